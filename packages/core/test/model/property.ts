import { TokenEndpoint } from "@credit-data/core"
import { assert } from "@effect/vitest"
import { Duration, Effect, Exit, FastCheck as fc, Layer, Scope } from "effect"
import { environment, failures, textOf, token } from "../support/fakeEndpoint.ts"
import * as World from "../support/world.ts"
import { deadline, latency, lifetime, Model, type Mode, modes } from "./model.ts"

const scopes = ["data-access:all", "furnishment:all"] as const

/** The real supply, with the operations and the results of the model. */
const makeReal = Effect.gen(function*() {
  let mode: Mode = "grants"
  let requests = 0
  let lastText = ""
  const outcomeOf = (mode: Mode, number: number): ReturnType<TokenEndpoint.Service["requestToken"]> => {
    switch (mode) {
      case "grants":
      case "grants late":
        return token(`token-${number}`, lifetime)
      case "grants all scopes":
        return token(`token-${number}`, lifetime, { scopes })
      case "grants the same":
        return token(lastText === "" ? `token-${number}` : lastText, lifetime)
      case "grants expired":
        return token(`token-${number}`, latency[mode])
      case "resets":
        return Effect.fail(failures.reset)
      case "refuses":
        return Effect.fail(failures.refused)
      case "fails":
      case "fails late":
        return Effect.fail(failures.unavailable)
      case "hangs":
        return Effect.fail(failures.timeout)
    }
  }
  const endpoint = Layer.succeed(TokenEndpoint.TokenEndpoint, {
    environment,
    url: "https://v2.example/oauth2/token",
    requestedScopes: scopes,
    deadline: Duration.millis(deadline),
    requestToken: Effect.fnUntraced(function*() {
      const modeAtStart = mode
      const outcome = yield* Effect.exit(outcomeOf(modeAtStart, ++requests))
      yield* Effect.sleep(latency[modeAtStart])
      if (Exit.isSuccess(outcome) && modeAtStart !== "grants expired") lastText = textOf(outcome.value)
      return yield* outcome
    })
  })
  const { arrive, interrupt, outcomes, time, tokens } = yield* World.make(endpoint)
  const withText = (text: string) => token(text, lifetime)
  return {
    call: arrive(tokens.get),
    refresh: arrive(tokens.refresh),
    replace: (text: string) => arrive(Effect.flatMap(withText(text), tokens.replace)),
    miss: tokens.reports?.scopeMissing("furnishment:all") ?? Effect.void,
    accept: (text: string) =>
      Effect.flatMap(withText(text), (accepted) => tokens.reports?.accepted(accepted) ?? Effect.void),
    interrupt,
    reject: (text: string) => Effect.flatMap(withText(text), tokens.invalidate),
    respond: (next: Mode) =>
      Effect.sync(() => {
        mode = next
      }),
    pass: time.pass,
    settle: time.settle,
    seen: Effect.zipWith(
      outcomes,
      tokens.status,
      (outcomes, { consecutiveRejections }) => ({ requests, outcomes, rejections: consecutiveRejections })
    )
  }
})

type Real = Effect.Effect.Success<typeof makeReal>

/** A step for both the model and the supply. After the step, the visible results of both must be equal. */
const command = (
  name: string,
  onModel: (model: Model) => void,
  onReal: (real: Real, model: Model) => Effect.Effect<unknown>
) => ({
  check: () => true,
  toString: () => name,
  run: (model: Model, real: Real) =>
    Effect.gen(function*() {
      const before = onReal(real, model)
      onModel(model)
      yield* before
      yield* real.settle
      assert.deepStrictEqual(yield* real.seen, {
        requests: model.requests,
        outcomes: model.outcomes,
        rejections: model.rejections
      })
    }).pipe(Effect.runPromise)
})

/** Durations that end at an event or close to one. Most are short. */
const times = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(1, 106, 107, 108, 500, 1_000, 2_000, 4_000) },
  { weight: 2, arbitrary: fc.constantFrom(5_000, 10_000, 29_999, 30_000, 44_900, 45_000, 60_000) },
  { weight: 2, arbitrary: fc.constantFrom(479_900, 480_000, 590_000, 595_000, 599_900, 600_000) },
  { weight: 1, arbitrary: fc.nat(700_000) }
)

const call = fc.constant(command("call", (model) => model.call(), (real) => real.call))

const refresh = fc.constant(command("refresh", (model) => model.refresh(), (real) => real.refresh))

const miss = fc.constant(command("miss a scope", (model) => model.miss(), (real) => real.miss))

const commands = [
  call,
  call,
  fc.nat(20).map((index) =>
    command(`interrupt ${index}`, (model) => model.interrupt(index), (real) => real.interrupt(index))
  ),
  times.map((millis) => command(`pass ${millis}`, (model) => model.pass(millis), (real) => real.pass(millis))),
  fc.constantFrom<Mode>(...modes, "fails", "hangs", "grants", "grants all scopes").map((mode) =>
    command(`endpoint ${mode}`, (model) => {
      model.mode = mode
    }, (real) => real.respond(mode))
  ),
  refresh,
  refresh,
  miss,
  miss,
  fc.constant(
    command("replace the last token", (model) => model.replace(model.text), (real, model) => real.replace(model.text))
  ),
  fc.constant(
    command("reject the last token", (model) => model.reject(model.text), (real, model) => real.reject(model.text))
  ),
  fc.constant(
    command("accept the last token", (model) => model.accept(model.text), (real, model) => real.accept(model.text))
  ),
  fc.integer({ min: 1, max: 9 }).map((number) =>
    command(
      `reject token-${number}`,
      (model) => model.reject(`token-${number}`),
      (real) => real.reject(`token-${number}`)
    )
  )
]

/** The supply and its model have equal results, whatever happens to them. */
export const property = fc.asyncProperty(
  fc.commands(commands, { maxCommands: 60, size: "max" }),
  async (steps) => {
    const scope = Effect.runSync(Scope.make())
    const real = await Effect.runPromise(Scope.extend(makeReal, scope))
    await fc.asyncModelRun(() => ({ model: new Model(), real }), steps)
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }
)
