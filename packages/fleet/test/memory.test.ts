import { TokenStore } from "@credit-data/fleet"
import { contract, underTestClock } from "@credit-data/test-support/storeContract"
import { Effect, TestClock } from "effect"

contract("memory", Effect.map(TokenStore.makeMemory, (store) => ({ store, pass: TestClock.adjust })), underTestClock)
