import * as AuthV1 from "@credit-data/auth-v1/AuthV1"
import * as AuthV2 from "@credit-data/auth-v2/AuthV2"
import type { AccessScope } from "@credit-data/core/AccessScope"
import type { Environment } from "@credit-data/core/Environment"
import * as Variables from "@credit-data/core/Variables"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Str from "effect/String"
import { failed, type Failed, type Finding, ok } from "./step.ts"
import * as Proxy from "./proxy.ts"
import * as Target from "./target.ts"

export type Version = "v1" | "v2"

/** The values of the variables. */
export interface Setup {
  readonly version: Version
  readonly environment: Environment
  readonly requestedScopes: Option.Option<Arr.NonEmptyReadonlyArray<AccessScope>>
  readonly authorizationServer: Target.Target
  readonly api: Target.Target
}

/** The variable that contains the authorization server's address. */
const addressVariable = { v1: "CREDIT_DATA_AUTH_V1_URL", v2: "CREDIT_DATA_AUTH_V2_URL" } as const

const read = (version: Version) =>
  version === "v2"
    ? Effect.map(
      Variables.read(AuthV2.config),
      ({ authV2Url, scopes, ...others }) => ({ ...others, authUrl: authV2Url, requestedScopes: Option.some(scopes) })
    )
    : Effect.map(
      Variables.read(AuthV1.config),
      ({ authV1Url, ...others }) => ({ ...others, authUrl: authV1Url, requestedScopes: Option.none() })
    )

interface Problem {
  readonly variable: string
  readonly isMissing: boolean
  /** What the variable is, or what was expected. */
  readonly expected: string
}

/** The problems in a printed error: one line for each variable. */
const problemsOf = (text: string): ReadonlyArray<Problem> =>
  Array.from(
    text.matchAll(/^(?:- )?(\w+)( is missing)?: (.*)$/gm),
    ([, variable = "", missing, expected = ""]) => ({ variable, isMissing: missing !== undefined, expected })
  )

const summaryOf = ([first, ...others]: ReadonlyArray<Problem>): string =>
  others.length > 0 || first === undefined
    ? `${others.length + 1} variables are missing or malformed`
    : `${first.variable} ${first.isMissing ? "is missing" : "is malformed"}`

const nothingSet =
  "No variable is set. If they are in a file, add --env-file FILE. Without credentials, try the simulator: " +
  "credit-data simulator --write-env simulator.env"

const adviceFor = ({ expected, isMissing, variable }: Problem): string =>
  `${isMissing ? "Set" : "Change"} ${variable}: ${Str.uncapitalize(expected)}.`

/** The variables of both versions that decide what happens, without the proxy variables. */
const names = [
  "CREDIT_DATA_AUTH",
  "CREDIT_DATA_ENVIRONMENT",
  "CREDIT_DATA_AUDIENCE",
  "CREDIT_DATA_BASE_URL",
  "CREDIT_DATA_AUTH_V1_URL",
  "CREDIT_DATA_AUTH_V2_URL",
  "CREDIT_DATA_SCOPES",
  "CREDIT_DATA_CLIENT_ID",
  "CREDIT_DATA_CLIENT_SECRET",
  "HTTPS_PROXY",
  "HTTP_PROXY",
  "NO_PROXY"
]

type SourceOf = (variable: string) => string | undefined

/** Where the variables come from: a line for each source. */
const sources = (sourceOf: SourceOf): ReadonlyArray<string> => {
  const bySource = Arr.groupBy(names.filter((name) => sourceOf(name) !== undefined), (name) => sourceOf(name) ?? "")
  return Object.entries(bySource).map(([source, variables]) => `from ${source}: ${variables.join(", ")}`)
}

/** All variables that are missing or malformed, at once. */
export const check = Effect.fnUntraced(function*(
  version: Version,
  sourceOf: SourceOf
): Effect.fn.Return<Finding<Setup>, Failed> {
  const notes = sources(sourceOf)
  const variables = yield* Effect.either(read(version))
  const proxies = yield* Proxy.read
  if (Either.isLeft(variables) || Either.isLeft(proxies)) {
    const texts = [
      ...Either.match(variables, { onLeft: (error) => [error.message], onRight: () => [] }),
      ...Either.match(proxies, { onLeft: (lines) => lines, onRight: () => [] })
    ]
    const problems = texts.flatMap(problemsOf)
    if (problems.length === 0) return yield* failed("the variables cannot be read", texts.join(" "))
    return yield* Effect.fail({
      detail: summaryOf(problems),
      advice: problems.map(adviceFor),
      notes: notes.length > 0 ? notes : [nothingSet]
    })
  }
  const { audience, authUrl, baseUrl, environment, requestedScopes } = variables.right
  const finding = ok(`${environment}, Auth ${version.toUpperCase()} at ${authUrl}`, {
    version,
    environment: { name: environment, audience, baseUrl },
    requestedScopes,
    authorizationServer: Target.make(
      { role: "the authorization server", variable: addressVariable[version], address: authUrl },
      proxies.right
    ),
    api: Target.make({ role: "the API", variable: "CREDIT_DATA_BASE_URL", address: baseUrl }, proxies.right)
  })
  return { ...finding, notes }
})
