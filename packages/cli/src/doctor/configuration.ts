import * as AuthV1 from "@credit-data/auth-v1/AuthV1"
import * as AuthV2 from "@credit-data/auth-v2/AuthV2"
import { clientOf } from "@credit-data/core/Internal"
import * as TokenEndpoint from "@credit-data/core/TokenEndpoint"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Arr from "effect/Array"
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Str from "effect/String"
import { areSimilar } from "../similarNames.ts"
import * as Supply from "../supply.ts"
import { clientVariables, secretVariable, sourceOf, used } from "../variables.ts"
import { type Timed, timed } from "./clock.ts"
import { failed, type Finding, ok } from "./step.ts"
import { type Problem, readProxies, type Target } from "./target.ts"

/** What the variables describe. */
export interface Setup extends Finding {
  readonly version: Supply.Version
  readonly endpoint: TokenEndpoint.Service
  /** The token endpoint's last response. */
  readonly lastResponse: () => Timed | undefined
  readonly authorizationServer: Target
  readonly api: Target
}

/** The variables that decide what happens. */
const names = [...clientVariables, secretVariable, "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY"]

/** What a detail begins with. */
const profile = (): string => used.profile === undefined ? "" : `profile ${used.profile.name}: `

/** Where the variables come from: a line for each source. */
const sources = (): ReadonlyArray<string> =>
  Object.entries(Arr.groupBy(names.filter((name) => sourceOf(name) !== undefined), (name) => sourceOf(name) ?? ""))
    .map(([source, variables]) => `from ${source}: ${variables.join(", ")}`)

const problemsOf = (error: ConfigError.ConfigError): ReadonlyArray<Problem> => {
  switch (error._op) {
    case "And":
      return [...problemsOf(error.left), ...problemsOf(error.right)]
    case "Or": {
      // a missing variable has its full name on the left, and its description on the right
      const [described] = problemsOf(error.right)
      return problemsOf(error.left).map((problem) =>
        problem.isMissing ? { ...problem, ...described, variable: problem.variable } : problem
      )
    }
    default:
      return [{ variable: error.path.join("_"), isMissing: error._op === "MissingData", expected: error.message }]
  }
}

const summaryOf = ([first, ...others]: ReadonlyArray<Problem>): string =>
  others.length > 0 || first === undefined
    ? `${others.length + 1} variables are missing or malformed`
    : `${first.variable} ${first.isMissing ? "is missing" : "is malformed"}`

/** A variable that is set, is not used, and has almost this name. With a profile, the environment's variables do not count. */
const nearMissOf = (variable: string): string | undefined =>
  Object.keys(process.env).find((name) =>
    used.profile === undefined && !names.includes(name) && areSimilar(name, variable)
  )

const adviceFor = ({ expected, isMissing, variable }: Problem): string => {
  if (!isMissing) return `Change ${variable}: ${Str.uncapitalize(expected)}.`
  const nearMiss = nearMissOf(variable)
  return `Set ${variable}: ${expected}.${
    nearMiss === undefined ? "" : ` Instead, ${nearMiss} is set: correct its name.`
  }`
}

const nothingSet =
  "No variable is set. If they are in a file, add --variables FILE. Without credentials, try the simulator: " +
  "npx @credit-data/simulator --write-env simulator.env"

/** All variables that are missing or malformed, at once. */
export const check = Effect.fnUntraced(function*(
  auth: Supply.Version | undefined,
  timeLimit: number
): Effect.fn.Return<Setup, Finding, HttpClient.HttpClient> {
  let last: Timed | undefined
  const client = timed(yield* HttpClient.HttpClient, (response) => {
    last = response
  })
  const read = yield* Effect.gen(function*() {
    const version = auth ?? (yield* Supply.versionConfig)
    // the error of the layer has one text for all variables
    yield* (version === "v1" ? Effect.asVoid(Config.all(AuthV1.config)) : Effect.asVoid(Config.all(AuthV2.config)))
    const layer = Supply.endpointLayer(version, { timeout: timeLimit })
    return { version, endpoint: yield* Effect.provide(TokenEndpoint.TokenEndpoint, layer) }
  }).pipe(Effect.provideService(HttpClient.HttpClient, client), Effect.either)
  const proxies = readProxies()
  const problems = [...Either.match(read, { onLeft: problemsOf, onRight: () => [] }), ...proxies.problems]
  const notes = sources()
  if (Either.isLeft(read) || problems.length > 0) {
    const finding = yield* Effect.flip(failed(`${profile()}${summaryOf(problems)}`, ...problems.map(adviceFor)))
    return yield* Effect.fail({ ...finding, notes: notes.length > 0 ? notes : [nothingSet] })
  }
  const { endpoint, version } = read.right
  const { environment, url } = endpoint
  return {
    ...ok(`${profile()}${clientOf(environment.name, endpoint.clientId)}, Auth ${version.toUpperCase()} at ${url}`),
    notes,
    version,
    endpoint,
    lastResponse: () => last,
    authorizationServer: proxies.targetOf({
      role: "the authorization server",
      variable: `CREDIT_DATA_AUTH_${version.toUpperCase()}_URL`,
      address: url
    }),
    api: proxies.targetOf({ role: "the API", variable: "CREDIT_DATA_BASE_URL", address: environment.baseUrl })
  }
})
