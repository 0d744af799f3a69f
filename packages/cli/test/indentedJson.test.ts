import { assert, describe, it } from "@effect/vitest"
import * as fc from "effect/FastCheck"
import { indentedJson } from "../src/text.ts"

describe("JSON for a terminal", () => {
  it("has the same values, whatever the JSON is", () =>
    fc.assert(fc.property(fc.json(), fc.nat(4), (json, indent) => {
      const text = JSON.stringify(JSON.parse(json), undefined, indent)
      assert.deepStrictEqual(JSON.parse(indentedJson(text) ?? ""), JSON.parse(text))
    })))

  it("is what JSON.stringify writes, for values without numbers", () =>
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.oneof(fc.boolean(), fc.array(fc.stringMatching(/^\w*$/)))), (value) => {
        const plain = JSON.stringify(value)
        // characters that steer a terminal are escaped
        fc.pre(!/[\p{Cc}\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069\uFEFF]/u.test(plain))
        assert.strictEqual(indentedJson(plain), JSON.stringify(value, undefined, 2))
      })
    ))

  it("grows in proportion to a deeply nested text", () => {
    const depth = 5_000
    assert.isBelow(indentedJson("[".repeat(depth) + "]".repeat(depth))?.length ?? 0, depth * 100)
  })

  it("is nothing for a text that is not JSON", () => assert.isUndefined(indentedJson("{\"a\": }")))
})
