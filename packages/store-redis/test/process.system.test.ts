import { script, start } from "@credit-data/test-support/childProcess"
import { startRedis } from "@credit-data/test-support/redisServer"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"
import { moveSlot, startCluster } from "./support/cluster.ts"
import { serverOf } from "./support/server.ts"

const name = "0123456789abcdef".repeat(4)
const program = fileURLToPath(new URL("support/program.ts", import.meta.url))

/** The process ends when the program has ended, and not before. */
const survives = Effect.fnUntraced(function*(
  args: readonly [url: string, kind: "cluster" | "sentinels" | "server", connection: "store" | "program"],
  happens: Effect.Effect<unknown>
) {
  const child = yield* start(script(program, ...args))
  yield* child.printed("ready")
  yield* happens
  const { exitCode, stderr, stdout } = yield* child.end
  assert.strictEqual(stderr, "")
  assert.strictEqual(exitCode, 0)
  assert.include(stdout, "done")
})

describe("a process without a handler for unhandled rejections survives", { concurrent: true }, () => {
  for (const connection of ["store", "program"] as const) {
    for (const fault of ["pause", "kill"] as const) {
      it.scopedLive(
        `a slot that moves to a node of a cluster that is hit by ${fault}, over the connection of the ${connection}`,
        () =>
          Effect.gen(function*() {
            const { nodes, url } = yield* startCluster
            const { begin, target } = yield* moveSlot(nodes, name)
            yield* survives(
              [url, "cluster", connection],
              Effect.zipRight(begin, Effect.delay(target[fault], "300 millis"))
            )
          }),
        60_000
      )
    }

    for (const kind of ["cluster", "sentinels", "server"] as const) {
      it.scopedLive(
        `a ${kind} whose reply is nested 10 000 times, over the connection of the ${connection}`,
        () =>
          Effect.gen(function*() {
            const { url } = yield* serverOf("*1\r\n".repeat(10_000))
            yield* survives([url, kind, connection], Effect.void)
          }),
        60_000
      )
    }

    it.scopedLive(
      `a server that is killed and comes back, over the connection of the ${connection}`,
      () =>
        Effect.gen(function*() {
          const { kill, restart, url } = yield* startRedis()
          yield* survives([url, "server", connection], Effect.zipRight(kill, Effect.delay(restart, "500 millis")))
        }),
      60_000
    )
  }
})
