/** Finds out, step by step, why a program gets no token or cannot call the API. */
import { printableUpTo, within } from "@credit-data/core/Internal"
import type * as Comparison from "../comparison.ts"
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type { Version } from "../supply.ts"
import { codeOf, unknownCode } from "../text.ts"
import * as Api from "./api.ts"
import * as Clock from "./clock.ts"
import * as Configuration from "./configuration.ts"
import * as Connection from "./connection.ts"
import * as Handshake from "./handshake.ts"
import { type Finding, skipped, type Step } from "./step.ts"
import * as Token from "./token.ts"

const firewall =
  "A firewall probably drops the packets: ask for a rule that lets this machine connect to the server, or to its proxy."

const silent = "Contact the operator: the server accepts connections and does not respond."

/** The steps in their order, each with the advice if it does not end in time. */
const adviceWhenSlow = {
  configuration: "Check where the variables come from: that source did not respond.",
  name: "Check the DNS settings of this machine: no DNS server responded.",
  connection: firewall,
  TLS: "Check that the port in the address is an https port, and that no firewall inspects or drops the handshake.",
  clock: silent,
  token: silent,
  scopes: "Run the command again.",
  API: `${firewall} If the connection works, the path may be slow: try another one.`
}

type Name = keyof typeof adviceWhenSlow

/** A foreign text must not move the cursor of a terminal, or fill its screen. */
const printable = printableUpTo(1_000)

const failure = (detail: string, advice: string): Finding => ({ result: "failed", detail, advice: [advice], notes: [] })

/** Shows only the name of an unexpected error, because its message could quote a request. */
const unexpected = (cause: Cause.Cause<unknown>): Finding => {
  const error = Cause.squash(cause)
  const code = codeOf(error)
  return failure(
    `unexpected error: ${error instanceof Error ? error.name : "of an unknown kind"}${
      code === unknownCode ? "" : ` (${code})`
    }`,
    "This is a defect of credit-data: report it with this line and the output of node --version."
  )
}

interface Options {
  /** Default: the version that the variables select. */
  readonly auth: Version | undefined
  /** Requests to the business API that are sent with the token. */
  readonly probes: ReadonlyArray<Comparison.Probe>
  /** The time limit of each step, in milliseconds. Default: 10 seconds. */
  readonly timeLimit?: number | undefined
  readonly report: (step: Step) => Effect.Effect<unknown>
}

/** Runs all steps in their order, and reports each when it ends. A step whose predecessor failed is skipped. */
export const examine = Effect.fnUntraced(
  function*(
    { auth, probes, report, timeLimit = 10_000 }: Options
  ): Effect.fn.Return<void, Name, HttpClient.HttpClient> {
    /** Runs a check, whatever it does. The returned effect reports what it found, and fails with the name of the step if it failed. */
    const run = <A extends Finding, R>(name: Name, check: Effect.Effect<A, Finding, R>) =>
      check.pipe(
        within(timeLimit, () => failure(`not done after ${timeLimit / 1_000} seconds`, adviceWhenSlow[name])),
        // nothing that a check does ends the examination without a step
        Effect.sandbox,
        Effect.mapError((cause) => Option.getOrElse(Cause.failureOption(cause), () => unexpected(cause))),
        Effect.either,
        Effect.timed,
        Effect.map(([time, outcome]) =>
          Effect.gen(function*() {
            const { advice, detail, notes, result } = Either.merge(outcome)
            yield* report({
              name,
              result,
              detail: printable(detail),
              advice: advice.map(printable),
              notes: notes.map(printable),
              millis: Math.round(Duration.toMillis(time))
            })
            return yield* Either.mapLeft(outcome, () => name)
          })
        )
      )
    const step = <A extends Finding, R>(name: Name, check: Effect.Effect<A, Finding, R>) =>
      Effect.flatten(run(name, check))

    const setup = yield* step("configuration", Configuration.check(auth, timeLimit))
    yield* step("name", Connection.resolve(setup.authorizationServer))
    yield* step("connection", Connection.check(setup.authorizationServer))
    yield* step("TLS", Handshake.check(setup.authorizationServer))
    const tokenStep = yield* run("token", Token.check(setup))
    // the response to the token request has the server's time, whatever else it has
    yield* step("clock", Effect.sync(() => Clock.check(setup.lastResponse(), setup.authorizationServer.role)))
    const { token } = yield* tokenStep
    yield* step("scopes", Token.checkScopes(setup, token))
    const checks = probes.length === 0 ? [Api.reach(setup)] : yield* Api.checks(setup, token, probes)
    // one probe that fails does not hide the others
    yield* Effect.forEach(checks, (check) => Effect.ignore(step("API", check)), { discard: true })
  },
  (run, { report }) =>
    Effect.catchAll(run, (failed) => {
      const names = Object.keys(adviceWhenSlow)
      return Effect.forEach(
        names.slice(names.indexOf(failed) + 1),
        (name) => report({ ...skipped(`not run, because ${failed} failed`), name, millis: 0 }),
        { discard: true }
      )
    })
)
