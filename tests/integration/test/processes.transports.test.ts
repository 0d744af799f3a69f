import { Fault, Simulator } from "@credit-data/simulator"
import { interruptedExitCode } from "@credit-data/test-support/childProcess"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema, type Scope } from "effect"
import { nothingLeft } from "../src/faultRow.ts"
import { start } from "../src/program.ts"
import { transports } from "../src/transports.ts"

/** The expected end of a process: it printed this text and nothing else, and its exit code is 0. */
const clean = (stdout: string) => ({ exitCode: 0, stdout, stderr: "" })

const endless = Fault.Endless({ bytes: Fault.responseBytes({ headers: ["Connection: close"] }) })

const Limits = Schema.decodeSync(Schema.parseJson(Schema.Struct({
  outcomes: Schema.Array(Schema.String),
  grownMiB: Schema.Number
})))

describe.concurrent.each(transports)("a process over %s", (name) => {
  const live = (title: string, test: Effect.Effect<void, unknown, Simulator.Simulator | Scope.Scope>) =>
    it.scopedLive(title, () => Effect.provide(test, Simulator.layer()))

  live(
    "exits when its work is done",
    Effect.gen(function*() {
      const { end } = yield* start("work.ts", name)
      assert.deepStrictEqual(yield* end, clean("done\n"))
    })
  )

  live(
    "exits after failures, without an unhandled rejection",
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* simulator.failTokenRequests(Fault.Reset(), { times: 100 })
      const { end } = yield* start("promise.ts", name)
      const { stdout, ...others } = yield* end
      const [logged = "", printed] = stdout.split(/(?=done )/)
      assert.include(logged, "There is no valid access token")
      const tags = "TransportError TransportError TransportError"
      assert.deepStrictEqual({ ...others, stdout: printed }, clean(`done ${tags}\n`))
    })
  )

  for (
    const [during, fault] of [
      ["before the response", Fault.Silence()],
      [
        "within the body",
        Fault.Bytes({
          bytes: Fault.responseBytes({ headers: ["Content-Length: 9"], body: "{" }),
          ending: "Hang"
        })
      ]
    ] as const
  ) {
    live(
      `exits at once on SIGINT during a token request, ${during}`,
      Effect.gen(function*() {
        const simulator = yield* Simulator.Simulator
        yield* simulator.failTokenRequests(fault)
        const { end, kill } = yield* start("work.ts", name)
        yield* simulator.awaitReceived("AuthV2", 1)
        yield* kill("SIGINT").pipe(Effect.timeout("2 seconds"))
        assert.deepStrictEqual(yield* end, { ...clean(""), exitCode: interruptedExitCode })
        yield* nothingLeft(0)
      })
    )
  }

  live(
    "keeps its memory bounded while a server sends an endless response",
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* simulator.failTokenRequests(endless, { times: 11 })
      const { end } = yield* start("limits.ts", name)
      const { exitCode, stderr, stdout } = yield* end
      assert.strictEqual(exitCode, 0, stderr)
      const { grownMiB, outcomes } = Limits(stdout)
      assert.deepStrictEqual(outcomes, Array.from({ length: 10 }, () => "Size"))
      assert.isAtMost(grownMiB, 100)
    })
  )
})
