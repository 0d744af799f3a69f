import { script, start } from "@credit-data/test-support/childProcess"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"
import { moveSlot, startCluster } from "./support/cluster.ts"
import { name } from "./support/store.ts"

const program = fileURLToPath(new URL("support/program.ts", import.meta.url))

describe("a process without a handler for unhandled rejections", { concurrent: true }, () => {
  for (const version of ["5", "6"]) {
    it.scopedLive(
      `lives and fails no call while a cluster moves a slot ten times to a node that stops or is killed, with ioredis ${version}`,
      () =>
        Effect.gen(function*() {
          const { nodes, url } = yield* startCluster()
          const { begin, end, source, target } = yield* moveSlot(nodes, name)
          const child = yield* start(script(program, url, version, "30000"))
          yield* child.printed("ready")
          for (let round = 0; round < 10; round++) {
            const [fault, recovery] = round % 2 === 0
              ? [target.pause, target.resume]
              : [target.kill, target.restart]
            yield* begin
            yield* Effect.sleep("300 millis")
            yield* fault ?? Effect.void
            yield* Effect.sleep("1200 millis")
            yield* recovery ?? Effect.void
            yield* Effect.sleep("500 millis")
            // the slot stays where it was
            yield* end(source)
          }
          const { exitCode, stderr, stdout } = yield* child.end
          assert.strictEqual(stderr, "")
          assert.strictEqual(exitCode, 0)
          assert.include(stdout, "done: some calls, 0 failed")
          assert.include(stdout, "ioredis is as before")
        }),
      120_000
    )
  }
})
