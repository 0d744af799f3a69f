import { assert } from "@effect/vitest"
import { type Clock, Effect, FastCheck as fc, Random } from "effect"
import { type Bug, type Event, type Mode, run } from "./world.ts"
import { makeMemory } from "../support/fleet.ts"

const one = fc.nat(3)
const pass = (min: number, max: number) =>
  fc.record({ what: fc.constant("pass" as const), millis: fc.integer({ min, max }) })
const happens = <What extends "ask" | "kill" | "stop" | "wake" | "reject">(
  what: What,
  who: fc.Arbitrary<number | "holder" | "all">
) => fc.record({ what: fc.constant(what), who })

const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 5, arbitrary: happens("ask", fc.constant("all")) },
  { weight: 4, arbitrary: happens("ask", one) },
  { weight: 6, arbitrary: pass(1, 700) },
  { weight: 4, arbitrary: pass(700, 5_000) },
  { weight: 3, arbitrary: pass(600_000, 3_000_000) },
  { weight: 1, arbitrary: happens("reject", one) },
  { weight: 1, arbitrary: happens("kill", fc.oneof(one, fc.constant("holder" as const))) },
  {
    weight: 3,
    arbitrary: happens(
      "stop",
      fc.oneof({ weight: 1, arbitrary: one }, { weight: 3, arbitrary: fc.constant("holder" as const) })
    )
  },
  { weight: 3, arbitrary: happens("wake", fc.oneof(one, fc.constant("all" as const))) },
  {
    weight: 2,
    arbitrary: fc.record({
      what: fc.constant("server" as const),
      mode: fc.constantFrom<Mode>("grants", "grants late", "grants late", "fails")
    })
  }
)
const always = (event: Event) => fc.constant(event)
const askAll = always({ what: "ask", who: "all" })
// chance alone rarely leads to these
const beginning = fc.oneof(
  fc.constant([]),
  fc.tuple(always({ what: "server", mode: "fails" }), askAll),
  fc.tuple(
    always({ what: "server", mode: "grants late" }),
    askAll,
    always({ what: "stop", who: "holder" }),
    pass(2_000, 5_000),
    always({ what: "wake", who: "all" })
  )
)
const events = fc.tuple(beginning, fc.array(event, { minLength: 8, maxLength: 60, size: "max" }))
  .map((parts) => parts.flat())

const memory = (clock: Clock.Clock) => makeMemory.pipe(Effect.withClock(clock))

/** A fleet with this bug breaks no rule, or not the given one, whatever happens to it. */
export const property = (bug: () => Bug, options: { readonly isStoreExact?: boolean; readonly rule?: string } = {}) =>
  fc.asyncProperty(events, async (events) => {
    const { violations } = await Effect.runPromise(
      run({ memory, bug: bug(), ...options }, events).pipe(Effect.withRandom(Random.make("seed")))
    )
    assert.strictEqual(violations.filter((each) => each.includes(options.rule ?? "")).join("\n"), "")
  })
