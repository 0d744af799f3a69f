import { recordingTracer } from "@credit-data/test-support/recordingTracer"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, TestClock, Option, type Tracer } from "effect"
import { inSpan, traceHeaders } from "../src/internal/observed.ts"

/** The headers for a span with these ids. */
const headersOf = (traceId: string, spanId: string) =>
  Effect.map(Effect.makeSpan("a span"), (span) => ({ ...traceHeaders(Option.some({ ...span, traceId, spanId })) }))

const traceId = "0af7651916cd43dd8448eb211c80319c"
const spanId = "00f067aa0ba902b7"

describe("the headers that pass a trace on", () => {
  it.effect("are set for the ids of the W3C, which may begin with a zero", () =>
    Effect.gen(function*() {
      assert.include((yield* headersOf(traceId, spanId))["traceparent"], `${traceId}-${spanId}`)
    }))

  it("are missing without a span", () => {
    assert.deepStrictEqual({ ...traceHeaders(Option.none()) }, {})
  })

  for (
    const [what, trace, own] of [
      ["a trace of zeros", "0".repeat(32), spanId],
      ["a span of zeros", traceId, "0".repeat(16)],
      ["a longer trace", `${traceId}0`, spanId],
      ["a trace with something before it", `x${traceId}`, spanId],
      ["a longer span", traceId, `${spanId}0`],
      ["a span with something before it", traceId, `x${spanId}`],
      ["a trace of an invalid character", traceId.replace("c", "g"), spanId],
      ["no ids", "", ""]
    ] as const
  ) {
    it.effect(`are missing for ${what}`, () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(Object.keys(yield* headersOf(trace, own)), [])
      }))
  }
})

describe("the span of an effect", () => {
  /** How the span of this effect ends. */
  const endOf = <A, E>(effect: Effect.Effect<A, E>) =>
    Effect.gen(function*() {
      const { spans, tracer } = recordingTracer()
      const observed = inSpan("a span", { attributes: {}, shown: () => "shown" }, () => effect)
      const fiber = yield* Effect.fork(Effect.withTracer(observed, tracer))
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(fiber)
      return spans[0]?.exit ?? assert.fail("the span has not ended")
    })

  it.effect("ends without the value of a success", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* endOf(Effect.succeed("a secret")), Exit.void)
    }))

  it.effect("ends with what is shown of a failure", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* endOf(Effect.fail("a secret")), Exit.fail("shown"))
    }))

  it.effect("ends with a defect without details", () =>
    Effect.gen(function*() {
      const exit = yield* endOf(Effect.die(new Error("a secret")))
      assert(Exit.isFailure(exit))
      assert.strictEqual(String(Cause.squash(exit.cause)), "Error: a defect")
    }))

  it.effect("ends with an interruption", () =>
    Effect.gen(function*() {
      assert.isTrue(Exit.isInterrupted(yield* endOf(Effect.never)))
    }))

  it.effect("has the kind of a client, no stack trace, and the time of the clock, which a span without timing lacks", () =>
    Effect.gen(function*() {
      yield* TestClock.adjust("5 seconds")
      const timesOf = (startTime: bigint | undefined) =>
        Effect.gen(function*() {
          const ends: Array<bigint> = []
          const kinds: Array<unknown> = []
          const { spans, tracer } = recordingTracer((kind) => kinds.push(kind))
          const timed: Tracer.Tracer = {
            ...tracer,
            span: (...options) => {
              const span = tracer.span(...options)
              return {
                ...span,
                status: startTime === undefined ? span.status : { _tag: "Started", startTime },
                end: (at) => ends.push(at)
              }
            }
          }
          yield* Effect.withTracer(inSpan("a span", { attributes: {}, shown: String }, () => Effect.void), timed)
          assert.deepStrictEqual(kinds, ["client"])
          assert.deepStrictEqual(spans[0]?.attributes, {})
          return ends
        })
      assert.deepStrictEqual(yield* timesOf(undefined), [5_000_000_000n])
      assert.deepStrictEqual(yield* timesOf(0n), [0n])
    }))
})
