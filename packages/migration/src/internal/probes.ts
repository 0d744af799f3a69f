import type { AccessToken } from "@credit-data/core/AccessToken"
import * as AccessTokens from "@credit-data/core/AccessTokens"
import { Transport, within } from "@credit-data/core/Internal"
import * as GroupClient from "@credit-data/http-client/GroupClient"
import type * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type { HttpMethod } from "@effect/platform/HttpMethod"
import type * as ConfigError from "effect/ConfigError"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"

/** From connecting to the last byte. */
const deadline = "30 seconds"

/** The response to a probe. The hash is not passed on, because a short body could be guessed from it. */
interface ProbeResponse {
  readonly status: number
  readonly hash: string
}

class NoResponse extends Data.TaggedError("NoAnswer")<{ readonly reason: string }> {}

const reasonOf = (error: GroupClient.GroupClientError): string =>
  HttpClientError.isHttpClientError(error) ? Transport.reason(error) : error._tag

interface Probe {
  readonly method: HttpMethod
  readonly path: string
}

/** Sends probes to the business API, each with one given token, whatever the response is. */
export const make = Effect.fnUntraced(function*(tokens: AccessTokens.Service): Effect.fn.Return<
  (probe: Probe, token: AccessToken) => Effect.Effect<Either.Either<ProbeResponse, string>>,
  ConfigError.ConfigError,
  HttpClient.HttpClient
> {
  // a request that has its own token does not use the supply
  const client = yield* Effect.provideService(
    GroupClient.make({ name: "Comparison" }),
    AccessTokens.AccessTokens,
    tokens
  )
  return ({ method, path }, token) =>
    client.execute(HttpClientRequest.bearerToken(HttpClientRequest.make(method)(path), token.secret)).pipe(
      Effect.flatMap((response) => Effect.map(response.arrayBuffer, (body) => ({ status: response.status, body }))),
      Effect.mapError((error) => new NoResponse({ reason: reasonOf(error) })),
      within(deadline, () => new NoResponse({ reason: "Timeout" })),
      Effect.flatMap(({ body, status }) =>
        Effect.map(
          Effect.promise(() => crypto.subtle.digest("SHA-256", body)),
          (hash) => ({ status, hash: Encoding.encodeHex(new Uint8Array(hash)) })
        )
      ),
      Effect.mapError(({ reason }) => reason),
      Effect.either
    )
})
