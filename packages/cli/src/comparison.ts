// Compares Auth V1 with Auth V2, before the swap.

import type { AccessToken } from "@credit-data/core/AccessToken"
import * as AccessTokens from "@credit-data/core/AccessTokens"
import { Transport, within } from "@credit-data/core/Internal"
import type { TokenError } from "@credit-data/core/TokenError"
import * as GroupClient from "@credit-data/http-client/GroupClient"
import type * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Arr from "effect/Array"
import type * as ConfigError from "effect/ConfigError"
import * as Data from "effect/Data"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"

/**
 * A safe request to the business API. One per endpoint group that the program calls is enough. Choose a path whose response
 * does not change from request to request.
 */
export interface Probe {
  /** Only methods that change nothing. */
  readonly method: "GET" | "HEAD" | "OPTIONS"
  /** The path below the base URL, with its query. */
  readonly path: string
}

/**
 * What is known about a token, without the token.
 */
export interface TokenFacts {
  /** The scopes that were granted, with the names that the server uses. */
  readonly scopes: ReadonlyArray<string>
  /** The scopes requested from Auth V2 that the token does not cover. Auth V1 has other names, so nothing is missing there. */
  readonly missingScopes: ReadonlyArray<string>
  /** The lifetime when it was issued. */
  readonly lifetime: Duration.Duration
}

/**
 * The response to a probe: its status, or why there was none.
 */
export type ProbeOutcome = Either.Either<number, string>

/**
 * What was found with one probe.
 */
interface ProbeResult {
  readonly probe: Probe
  /** None if there was no token of Auth V1. */
  readonly v1: Option.Option<ProbeOutcome>
  /** None if there was no token of Auth V2. */
  readonly v2: Option.Option<ProbeOutcome>
  /** Whether both bodies have the same SHA-256 hash. None without two responses. Neither body nor hash is kept. */
  readonly sameBody: Option.Option<boolean>
}

/**
 * Reasons not to migrate. `NoTokenFromV1`: there is no rollback. All others mean that the program is not ready for Auth V2:
 * `NoTokenFromV2`; `ScopesMissing`: the operator has not granted them; `StatusDiffers`, `BodyDiffers`: a probe got different
 * responses; `ProbeFailed`: a probe got no response, or the same status outside 200–299 with both tokens, which proves
 * nothing.
 */
export type Problem = Data.TaggedEnum<{
  NoTokenFromV1: { readonly error: TokenError }
  NoTokenFromV2: { readonly error: TokenError }
  ScopesMissing: { readonly scopes: ReadonlyArray<string> }
  StatusDiffers: { readonly probe: Probe; readonly v1: number; readonly v2: number }
  BodyDiffers: { readonly probe: Probe }
  ProbeFailed: { readonly probe: Probe; readonly reason: string }
}>

/**
 * Constructors of the problems, with `$is` and `$match`.
 */
export const Problem = Data.taggedEnum<Problem>()

/**
 * The verdict of a comparison.
 *
 * - `Ready`: all probes returned 2xx, and the same response with both tokens.
 * - `ReadyWithoutRollback`: all probes returned 2xx with the V2 token, and Auth V1 no longer issues tokens.
 * - `Unproven`: there were no probes, and there is no other reason not to migrate.
 * - `NotReady`: V2 issues no token, a scope is missing, a response differs, or a probe returned no 2xx response.
 */
export type Verdict = "Ready" | "ReadyWithoutRollback" | "Unproven" | "NotReady"

/**
 * The result of a comparison; safe to print.
 */
export interface Comparison {
  readonly verdict: Verdict
  readonly problems: ReadonlyArray<Problem>
  readonly v1: Either.Either<TokenFacts, TokenError>
  readonly v2: Either.Either<TokenFacts, TokenError>
  readonly probes: ReadonlyArray<ProbeResult>
}

/** From connecting to the last byte. */
const deadline = "30 seconds"

const hashOf = (body: ArrayBuffer) =>
  Effect.promise(async () => String(new Uint8Array(await crypto.subtle.digest("SHA-256", body))))

/** The status of a response and the hash of its body. The hash is not passed on, because a short body could be guessed from it. */
const read = (response: ReturnType<GroupClient.GroupClient["execute"]>) =>
  Effect.flatMap(
    response,
    ({ arrayBuffer, status }) => Effect.map(Effect.flatMap(arrayBuffer, hashOf), (hash) => ({ status, hash }))
  ).pipe(
    Effect.mapError((error) => HttpClientError.isHttpClientError(error) ? Transport.reason(error) : error._tag),
    within(deadline, () => "Timeout"),
    Effect.either
  )

/**
 * Can a later comparison get the token? A host name that does not resolve is usually a server that was removed, so it counts as lasting.
 */
const isTemporary = (error: TokenError): boolean =>
  error.retryable && !(error._tag === "TransportError" && error.reason === "NameNotFound")

const factsOf = (token: AccessToken, { requestedScopes }: AccessTokens.Service): TokenFacts => ({
  scopes: token.scopes,
  missingScopes: token.missing(requestedScopes),
  lifetime: Duration.millis(DateTime.distance(token.requestedAt, token.expiresAt))
})

/** The token, or its lasting failure. Fails with a temporary one, which proves nothing about the migration. */
const obtain = ({ get }: AccessTokens.Service): Effect.Effect<Either.Either<AccessToken, TokenError>, TokenError> =>
  Effect.matchEffect(get, {
    onFailure: (error) => isTemporary(error) ? Effect.fail(error) : Effect.succeed(Either.left(error)),
    onSuccess: (token) => Effect.succeed(Either.right(token))
  })

const problemsOf = ({ probe, sameBody, v1, v2 }: ProbeResult): ReadonlyArray<Problem> => {
  const outcomes = [...Option.toArray(v1), ...Option.toArray(v2)]
  const [reason] = Arr.getLefts(outcomes)
  if (reason !== undefined) return [Problem.ProbeFailed({ probe, reason })]
  const [first = 0, second = first] = Arr.getRights(outcomes)
  if (first !== second) return [Problem.StatusDiffers({ probe, v1: first, v2: second })]
  // other statuses do not show that the token was accepted: a redirect or a 404 is the same with any token
  if (first < 200 || first >= 300) return [Problem.ProbeFailed({ probe, reason: `status ${first}` })]
  return Option.contains(sameBody, false) ? [Problem.BodyDiffers({ probe })] : []
}

/**
 * Obtains a token from each version, and sends each probe with both tokens, one request after the other. Nothing else is sent. A
 * probe waits for its response for at most 30 seconds. Its body is kept in memory until its hash is calculated.
 *
 * Fails with the `TokenError` of a version whose failure is temporary: compare again later. Fails with a `ConfigError` if the base URL of
 * the environment is not valid. */
export const compare = Effect.fnUntraced(function*(options: {
  /** The supply of Auth V1. */
  readonly v1: AccessTokens.Service
  /** The supply of Auth V2. */
  readonly v2: AccessTokens.Service
  /** Default: none, so only the tokens are compared, which proves nothing about calls. */
  readonly probes?: ReadonlyArray<Probe> | undefined
}): Effect.fn.Return<Comparison, TokenError | ConfigError.ConfigError, HttpClient.HttpClient> {
  const client = yield* Effect.provideService(
    GroupClient.make({ name: "Comparison" }),
    AccessTokens.AccessTokens,
    options.v2
  )
  const v1 = yield* obtain(options.v1)
  const v2 = yield* obtain(options.v2)
  /** Sends a probe with this token, and not with the token of the supply. */
  const sendWith = ({ method, path }: Probe, token: Either.Either<AccessToken, TokenError>) =>
    Effect.forEach(
      Arr.getRights([token]),
      ({ secret }) => read(client.execute(HttpClientRequest.bearerToken(HttpClientRequest.make(method)(path), secret)))
    )
  const results = yield* Effect.forEach(options.probes ?? [], (probe) =>
    Effect.gen(function*() {
      const [first, second] = [Arr.head(yield* sendWith(probe, v1)), Arr.head(yield* sendWith(probe, v2))]
      const [one, other] = [Option.flatMap(first, Either.getRight), Option.flatMap(second, Either.getRight)]
      return {
        probe,
        v1: Option.map(first, Either.map(({ status }) => status)),
        v2: Option.map(second, Either.map(({ status }) => status)),
        sameBody: Option.zipWith(one, other, (one, other) => one.hash === other.hash)
      } satisfies ProbeResult
    }))
  const scopes = Arr.getRights([v2]).flatMap((token) => token.missing(options.v2.requestedScopes))
  const noRollback: ReadonlyArray<Problem> = Arr.getLefts([v1]).map((error) => Problem.NoTokenFromV1({ error }))
  const against: ReadonlyArray<Problem> = [
    ...Arr.getLefts([v2]).map((error) => Problem.NoTokenFromV2({ error })),
    ...(scopes.length === 0 ? [] : [Problem.ScopesMissing({ scopes })]),
    ...results.flatMap(problemsOf)
  ]
  const proven = noRollback.length > 0 ? "ReadyWithoutRollback" : "Ready"
  return {
    verdict: against.length > 0 ? "NotReady" : results.length === 0 ? "Unproven" : proven,
    problems: [...against, ...noRollback],
    v1: Either.map(v1, (token) => factsOf(token, options.v1)),
    v2: Either.map(v2, (token) => factsOf(token, options.v2)),
    probes: results
  }
})
