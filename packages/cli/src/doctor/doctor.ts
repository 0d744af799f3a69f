/** Finds out, step by step, why a program gets no token or cannot call the API. */
import { within } from "@credit-data/core/Internal"
import type * as Comparison from "@credit-data/migration/Comparison"
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Api from "./api.ts"
import * as Clock from "./clock.ts"
import * as Configuration from "./configuration.ts"
import * as Connection from "./connection.ts"
import type { Failed, Finding, Step } from "./step.ts"
import * as Handshake from "./handshake.ts"
import * as Name from "./name.ts"
import * as Scopes from "./scopes.ts"
import * as Token from "./token.ts"

export type { Result, Step } from "./step.ts"

const timeLimit = Duration.seconds(10)

const firewall =
  "A firewall probably drops the packets: ask for a rule that lets this machine connect to the server, or to its proxy."

/** The steps in their order, each with the advice if it does not end in time. */
const adviceWhenSlow = {
  configuration: "Check where the variables come from: that source did not respond.",
  name: "Check the DNS settings of this machine: no DNS server responded.",
  connection: firewall,
  TLS: "Check that the port in the address is an https port, and that no firewall inspects or drops the handshake.",
  clock: "Contact the operator: the server accepts connections and does not respond.",
  token: "Contact the operator: the server accepts connections and does not respond.",
  scopes: "Run the command again.",
  API: `${firewall} If the connection works, the path may be slow: try another one.`
}

type Name = keyof typeof adviceWhenSlow

/** A foreign text must not move the cursor of a terminal, or fill its screen. */
const printable = (text: string): string => {
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ")
  return line.length > 1_000 ? `${line.slice(0, 1_000)}…` : line
}

/** Shows only the name of an unexpected error, because its message could quote a request. */
const unexpected = (cause: Cause.Cause<unknown>): Failed => {
  const error = Cause.squash(cause)
  const name = error instanceof Error ? error.name : "of an unknown kind"
  const code = Predicate.hasProperty(error, "code") && Predicate.isString(error.code) ? ` (${error.code})` : ""
  return {
    detail: `unexpected error: ${name}${code}`,
    advice: ["This is a defect of credit-data: report it with this line and the output of node --version."],
    notes: []
  }
}

/** Runs one check, within the time limit. Nothing that a check does ends the examination without a step. */
const settle = <A, R>(name: Name, check: Effect.Effect<Finding<A>, Failed, R>) =>
  check.pipe(
    within(
      timeLimit,
      () => ({
        detail: `not done after ${Duration.toSeconds(timeLimit)} seconds`,
        advice: [adviceWhenSlow[name]],
        notes: []
      })
    ),
    Effect.sandbox,
    Effect.mapError((cause) => Option.getOrElse(Cause.failureOption(cause), () => unexpected(cause))),
    Effect.either,
    Effect.timed
  )

/** Runs all steps in their order, and reports each when it ends. A step whose predecessor failed is skipped. */
export const examine = Effect.fnUntraced(
  function*({ probes, report, sourceOf, version }: {
    readonly version: Configuration.Version
    /** Requests to the business API that are sent with the token. */
    readonly probes: ReadonlyArray<Comparison.Probe>
    /** Where the value of a variable comes from, if it has one. */
    readonly sourceOf: (variable: string) => string | undefined
    readonly report: (step: Step) => Effect.Effect<unknown>
  }): Effect.fn.Return<void, Name, HttpClient.HttpClient> {
    /** Reports a step. Fails with its name if the check failed, so that the rest is not run. */
    const step = Effect.fnUntraced(function*<A, R>(
      name: Name,
      check: Effect.Effect<Finding<A>, Failed, R>
    ): Effect.fn.Return<A, Name, R> {
      const [time, outcome] = yield* settle(name, check)
      const { advice, detail, notes, result } = Either.getOrElse(
        outcome,
        (failure) => ({ ...failure, result: "failed" as const })
      )
      yield* report({
        name,
        result,
        detail: printable(detail),
        advice: advice.map(printable),
        notes: notes.map(printable),
        millis: Math.round(Duration.toMillis(time))
      })
      return Either.isRight(outcome) ? outcome.right.value : yield* Effect.fail(name)
    })

    const setup = yield* step("configuration", Configuration.check(version, sourceOf))
    yield* step("name", Name.check(setup.authorizationServer))
    yield* step("connection", Connection.check(setup.authorizationServer))
    yield* step("TLS", Handshake.check(setup.authorizationServer))
    yield* step("clock", Clock.check(setup.authorizationServer))
    const obtained = yield* step("token", Token.check(setup))
    yield* step("scopes", Scopes.check(setup, obtained.token))
    const checks = probes.length === 0
      ? [Api.reach(setup)]
      : probes.map((probe) => Api.check(setup, obtained, probe))
    // one probe that fails does not hide the others
    yield* Effect.forEach(checks, (check) => Effect.ignore(step("API", check)), { discard: true })
  },
  (run, { report }) =>
    Effect.catchAll(run, (failed) => {
      const names = Object.keys(adviceWhenSlow)
      return Effect.forEach(names.slice(names.indexOf(failed) + 1), (name) =>
        report({
          name,
          result: "skipped",
          detail: `not run, because ${failed} failed`,
          advice: [],
          notes: [],
          millis: 0
        }), { discard: true })
    })
)
