import * as AccessTokens from "@credit-data/core/AccessTokens"
import type { TokenError } from "@credit-data/core/TokenError"
import * as Comparison from "../comparison.ts"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import type { Invocation } from "../commandLine/commands.ts"
import { exitCode } from "../exitCode.ts"
import { Ended } from "../failure.ts"
import { parseProbe } from "../probe.ts"
import * as Supply from "../supply.ts"
import { printLine } from "../terminal.ts"
import { colored, jsonText, scopesText, table } from "../text.ts"
import * as Transport from "../transport.ts"

const probeText = ({ method, path }: Comparison.Probe) => `${method} ${path}`

/** One line for each problem, for people. */
const problemText: (problem: Comparison.Problem) => string = Comparison.Problem.$match({
  NoTokenFromV1: ({ error }) => `V1 issues no token, so there is no rollback. ${error.message}`,
  NoTokenFromV2: ({ error }) => `V2 issues no token. ${error.message}`,
  ScopesMissing: ({ scopes }) => `V2 does not grant ${scopes.join(" ")}. Ask the operator to grant it.`,
  StatusDiffers: ({ probe, v1, v2 }) => `${probeText(probe)}: status ${v1} with V1, and ${v2} with V2.`,
  BodyDiffers: ({ probe }) => `${probeText(probe)}: the bodies differ. Choose a path whose response does not change.`,
  ProbeFailed: ({ probe, reason }) => `${probeText(probe)}: no proof, ${reason}.`
})

/** The verdict for people, and the exit code. Scripts may continue the migration after 0. */
export const verdicts: Readonly<Record<Comparison.Verdict, readonly [text: string, code: number]>> = {
  Ready: [colored("green", "Ready for V2."), exitCode.success],
  ReadyWithoutRollback: [colored("yellow", "Ready for V2, without a rollback."), exitCode.success],
  Unproven: [
    `${colored("yellow", "Not proven.")} No call was compared: give one --probe 'GET /path' for each endpoint group.`,
    exitCode.problem
  ],
  NotReady: [colored("red", "Not ready for V2."), exitCode.problem]
}

const factsRows = (version: string, facts: Either.Either<Comparison.TokenFacts, TokenError>) =>
  Either.match(facts, {
    onLeft: ({ _tag }) => [[version, "no token", _tag]],
    onRight: ({ lifetime, missingScopes, scopes }) => [
      [version, "lifetime", Duration.format(lifetime)],
      ["", "granted", scopesText(scopes)],
      ...(missingScopes.length === 0 ? [] : [["", "missing", colored("red", missingScopes.join(" "))]])
    ]
  })

const statusText = (status: Option.Option<Comparison.ProbeOutcome>) =>
  Option.match(status, { onNone: () => "", onSome: Either.match({ onLeft: (reason) => reason, onRight: String }) })

const format = ({ probes, problems, v1, v2, verdict }: Comparison.Comparison): string => {
  const rows = probes.map(({ probe, sameBody, v1, v2 }) => [
    probeText(probe),
    statusText(v1),
    statusText(v2),
    Option.match(sameBody, { onNone: () => "", onSome: (isSame) => isSame ? "same" : "differs" })
  ])
  return [
    table([...factsRows("V1", v1), ...factsRows("V2", v2)]),
    ...(rows.length === 0 ? [] : [table([["probe", "V1", "V2", "body"], ...rows])]),
    [verdicts[verdict][0], ...problems.map((problem) => `- ${problemText(problem)}`)].join("\n")
  ].join("\n\n")
}

const factsJson = Either.match({
  onLeft: (error: TokenError) => ({ error: error._tag, message: error.message }),
  onRight: ({ lifetime, missingScopes, scopes }: Comparison.TokenFacts) => ({
    lifetimeSeconds: Duration.toSeconds(lifetime),
    scopes,
    missingScopes
  })
})

const outcomeJson = (found: Option.Option<Comparison.ProbeOutcome>) =>
  Option.getOrNull(
    Option.map(found, Either.match({ onLeft: (error) => ({ error }), onRight: (status) => ({ status }) }))
  )

const json = ({ probes, problems, v1, v2, verdict }: Comparison.Comparison): string =>
  jsonText({
    verdict,
    problems: problems.map((problem) => ({ type: problem._tag, message: problemText(problem) })),
    v1: factsJson(v1),
    v2: factsJson(v2),
    probes: probes.map(({ probe, sameBody, v1, v2 }) => ({
      ...probe,
      v1: outcomeJson(v1),
      v2: outcomeJson(v2),
      sameBody: Option.getOrNull(sameBody)
    }))
  })

/** The supply of a version. It logs nothing, because the comparison prints its failures. */
const supplyOf = (version: Supply.Version, options: Invocation<"compare">["options"]) =>
  Effect.flatMap(
    Layer.build(Supply.endpointLayer(version, options)),
    (endpoint) => Effect.provide(Logger.withMinimumLogLevel(AccessTokens.make(), LogLevel.None), endpoint)
  )

export const compare = ({ options }: Invocation<"compare">) =>
  Effect.gen(function*() {
    const probes = yield* Effect.forEach(options.probe, parseProbe)
    const supplies = { v1: yield* supplyOf("v1", options), v2: yield* supplyOf("v2", options) }
    const comparison = yield* Supply.patiently(options)(Comparison.compare({ ...supplies, probes }))
    yield* printLine((options.json ? json : format)(comparison))
    const [, code] = verdicts[comparison.verdict]
    if (code !== exitCode.success) return yield* new Ended({ code })
  }).pipe(Effect.scoped, Effect.provide(Transport.layer(options)))
