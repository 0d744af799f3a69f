import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import { behaviour } from "../src/behaviour.ts"
import { otherBehaviour } from "../src/platform.ts"

// `BEHAVIOUR=write` writes what Effect 3 does; on Effect 4, the named differences in src/platform.ts apply
const file = new URL("../src/behaviour.json", import.meta.url)

it.live(
  "what users see is the same on both versions of Effect, apart from the named differences",
  () =>
    Effect.gen(function*() {
      const seen = yield* behaviour
      if (process.env["BEHAVIOUR"] === "write") writeFileSync(file, `${JSON.stringify(seen, undefined, 2)}\n`)
      const expected: unknown = JSON.parse(readFileSync(file, "utf8"))
      assert.isAbove(Object.keys(seen).length, 50)
      assert.deepStrictEqual<unknown>(seen, Object.assign({}, expected, otherBehaviour))
    }),
  60_000
)
