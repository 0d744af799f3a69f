import { assert, describe, it } from "@effect/vitest"
import { Duration, Option } from "effect"
import * as Fences from "../src/internal/fences.ts"

const value = (fence: number) => Option.some({ bytes: new Uint8Array(), fence, remaining: Duration.minutes(1) })

describe("the fences that a process has seen", () => {
  it("make lower ones of the same slot old, and no equal or higher ones", () => {
    const { isOld, see } = Fences.make()
    see("a", { slot: "Token", fence: 7 })
    assert.deepStrictEqual([6, 7, 8].map((fence) => isOld("a", { slot: "Token", fence })), [true, false, false])
    see("a", { slot: "Token", fence: 5 })
    assert.isTrue(isOld("a", { slot: "Token", fence: 6 }), "a lower fence that is seen later changes nothing")
  })

  it("of a token make the failures before it old, but not the other way round", () => {
    const { isOld, see } = Fences.make()
    see("a", { slot: "Token", fence: 7 })
    assert.deepStrictEqual([6, 7, 8].map((fence) => isOld("a", { slot: "Failure", fence })), [true, false, false])
    see("a", { slot: "Failure", fence: 9 })
    assert.isTrue(isOld("a", { slot: "Failure", fence: 8 }))
    assert.isFalse(isOld("a", { slot: "Token", fence: 8 }))
  })

  it("belong to one entry: with another entry, they begin again", () => {
    const { highest, isOld, see } = Fences.make()
    assert.strictEqual(highest("a"), 0)
    assert.strictEqual(highest(""), 0)
    assert.isFalse(isOld("a", { slot: "Token", fence: 1 }))
    see("a", { slot: "Failure", fence: 7 })
    see("a", { slot: "Token", fence: 3 })
    assert.strictEqual(highest("a"), 7)
    see("a", { slot: "Token", fence: 8 })
    assert.strictEqual(highest("a"), 8)
    assert.isFalse(isOld("b", { slot: "Token", fence: 1 }))
    assert.strictEqual(highest("b"), 0)
    see("b", { slot: "Token", fence: 2 })
    assert.strictEqual(highest("b"), 2)
    assert.strictEqual(highest("a"), 0)
  })

  it("have the highest of the values that were read", () => {
    assert.strictEqual(Fences.highestOf({ Token: Option.none(), Failure: Option.none() }), 0)
    assert.strictEqual(Fences.highestOf({ Token: value(3), Failure: value(5) }), 5)
    assert.strictEqual(Fences.highestOf({ Token: value(6), Failure: Option.none() }), 6)
  })
})
