// Runs without `runMain`: after `dispose`, nothing of the packages may keep the process alive.

import { AccessTokens } from "@credit-data/core"
import { Effect, ManagedRuntime } from "effect"
import { auth } from "../../src/programOptions.ts"

const runtime = ManagedRuntime.make(auth)
const failures = await Promise.all(
  [1, 2, 3].map(() =>
    runtime.runPromise(Effect.flatMap(AccessTokens.AccessTokens, (tokens) => Effect.flip(tokens.get)))
  )
)
await runtime.dispose()
console.log("done", failures.map(({ _tag }) => _tag).join(" "))
