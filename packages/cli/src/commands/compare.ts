import * as AccessTokens from "@credit-data/core/AccessTokens"
import type { TokenError } from "@credit-data/core/TokenError"
import * as Comparison from "@credit-data/migration/Comparison"
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
import type * as PrintedJson from "../printedJson.ts"
import { parseProbe } from "../probe.ts"
import * as Supply from "../supply.ts"
import { colored } from "../color.ts"
import { waiting } from "../spinner.ts"
import { table } from "../table.ts"
import { printLine } from "../terminal.ts"
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

const verdictText: Readonly<Record<Comparison.Verdict, string>> = {
  Ready: colored("green", "Ready for V2."),
  ReadyWithoutRollback: colored("yellow", "Ready for V2, without a rollback."),
  Unproven: `${
    colored("yellow", "Not proven.")
  } No call was compared: give one --probe 'GET /path' for each endpoint group.`,
  NotReady: colored("red", "Not ready for V2.")
}

/** Scripts may continue the migration after 0. */
const codes: Readonly<Record<Comparison.Verdict, number>> = {
  Ready: exitCode.success,
  ReadyWithoutRollback: exitCode.success,
  Unproven: exitCode.problem,
  NotReady: exitCode.problem
}

const factsRows = (version: string, facts: Either.Either<Comparison.TokenFacts, TokenError>) =>
  Either.match(facts, {
    onLeft: ({ _tag }) => [[version, "no token", _tag]],
    onRight: ({ lifetime, missingScopes, scopes }) => [
      [version, "lifetime", Duration.format(lifetime)],
      ["", "granted", scopes.join(" ")],
      ...(missingScopes.length === 0 ? [] : [["", "missing", colored("red", missingScopes.join(" "))]])
    ]
  })

const statusText = (status: Option.Option<Comparison.ProbeOutcome>) =>
  Option.match(status, { onNone: () => "", onSome: Either.match({ onLeft: (reason) => reason, onRight: String }) })

const format = ({ probes, problems, v1, v2, verdict }: Comparison.Comparison): string =>
  [
    table([...factsRows("V1", v1), ...factsRows("V2", v2)]),
    ...(probes.length === 0 ? [] : [
      table([
        ["probe", "V1", "V2", "body"],
        ...probes.map(({ probe, sameBody, v1, v2 }) => [
          probeText(probe),
          statusText(v1),
          statusText(v2),
          Option.match(sameBody, { onNone: () => "", onSome: (isSame) => isSame ? "same" : "differs" })
        ])
      ])
    ]),
    [verdictText[verdict], ...problems.map((problem) => `- ${problemText(problem)}`)].join("\n")
  ].join("\n\n")

const factsJson = (facts: Either.Either<Comparison.TokenFacts, TokenError>) =>
  Either.match(facts, {
    onLeft: (error) => ({ error: error._tag, message: error.message }),
    onRight: ({ lifetime, missingScopes, scopes }) => ({
      lifetimeSeconds: Duration.toSeconds(lifetime),
      scopes,
      missingScopes
    })
  })

const outcomeJson = (found: Option.Option<Comparison.ProbeOutcome>) =>
  Option.getOrNull(
    Option.map(
      found,
      Either.match({ onLeft: (error) => ({ error }), onRight: (status) => ({ status }) })
    )
  )

const json = ({ probes, problems, v1, v2, verdict }: Comparison.Comparison): string =>
  JSON.stringify(
    {
      version: 1,
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
    } satisfies PrintedJson.Compare
  )

/** The supply of a version. It logs nothing, because the comparison prints its failures. */
const supplyOf = Effect.fnUntraced(function*(version: Supply.Version) {
  const endpoint = yield* Layer.build(Supply.endpointLayer(version))
  const supply = Logger.withMinimumLogLevel(AccessTokens.make(), LogLevel.None)
  return yield* Effect.provide(supply, endpoint)
})

export const compare = ({ options }: Invocation<"compare">) =>
  Effect.gen(function*() {
    const probes = yield* Effect.forEach(options.probe, parseProbe)
    const supplies = { v1: yield* supplyOf("v1"), v2: yield* supplyOf("v2") }
    const comparison = yield* waiting(Comparison.compare({ ...supplies, probes }))
    yield* printLine((options.json ? json : format)(comparison))
    const code = codes[comparison.verdict]
    if (code !== exitCode.success) return yield* new Ended({ code })
  }).pipe(Effect.scoped, Effect.provide(Transport.layer))
