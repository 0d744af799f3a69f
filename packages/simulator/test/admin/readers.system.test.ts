import { SimulatorConsole } from "@credit-data/simulator"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { connect } from "node:net"
import { events, Test } from "../support/admin.ts"
import { get } from "../support/http.ts"

describe("readers of events that never read", () => {
  it.scopedLive("do not slow the simulator down, and a reader beside them gets everything", () =>
    Effect.gen(function*() {
      const { url } = yield* SimulatorConsole.SimulatorConsole
      const { port } = new URL(url)
      const sockets = yield* Effect.acquireRelease(
        Effect.sync(() =>
          Array.from({ length: 50 }, () => {
            const socket = connect(Number(port), "127.0.0.1")
            socket.on("error", () => socket.destroy())
            socket.write(`GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`)
            return socket.pause()
          })
        ),
        (sockets) =>
          Effect.sync(() => {
            for (const socket of sockets) socket.destroy()
          })
      )
      assert.strictEqual(sockets.length, 50)
      for (let round = 0; round < 20; round++) {
        yield* Effect.all(Array.from({ length: 10 }, () => get("/data-access/a")), { concurrency: "unbounded" })
      }
      // the reset and the settings come first
      const all = yield* events(202)
      assert.strictEqual(all.filter(({ event }) => event === "request").length, 200)
    }).pipe(Effect.provide(Test)))
})
