import * as AccessTokens from "@credit-data/core/AccessTokens"
import * as TokenEndpoint from "@credit-data/core/TokenEndpoint"
import { Transport } from "@credit-data/core/Internal"
import * as GroupClient from "@credit-data/http-client/GroupClient"
import type * as Comparison from "@credit-data/migration/Comparison"
import type * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import type { Setup } from "./configuration.ts"
import * as Connection from "./connection.ts"
import { failed, type Failed, type Finding, ok, reasons, warning } from "./step.ts"
import * as Handshake from "./handshake.ts"
import * as Name from "./name.ts"
import type { Target } from "./target.ts"
import type { Obtained } from "./token.ts"

/** Name, connection and TLS of the API, if they were not examined with the authorization server. */
const connect = Effect.fnUntraced(function*({ api, authorizationServer }: Setup): Effect.fn.Return<Finding, Failed> {
  if (api.url.origin === authorizationServer.url.origin) return ok("same server as before", undefined)
  yield* Name.check(api)
  const connected = yield* Connection.check(api)
  const secured = yield* Handshake.check(api)
  return secured.result === "skipped" ? connected : { ...secured, detail: `${connected.detail}, ${secured.detail}` }
})

const noResponse = (api: Target) => (error: GroupClient.GroupClientError): Failed =>
  HttpClientError.isHttpClientError(error) && error._tag === "RequestError"
    ? error.reason === "InvalidUrl"
      ? {
        detail: "the path is not below the base URL",
        advice: [`Give a path below ${api.variable}, without its host.`],
        notes: []
      }
      : {
        detail: `no response: ${reasons[Transport.reason(error)]}`,
        advice: [Transport.describe(error, { name: api.role, address: api.variable })],
        notes: []
      }
    : {
      detail: `no usable response: ${error._tag}`,
      advice: [`Check what responds at ${api.variable}: the API, or a proxy instead.`],
      notes: []
    }

/** Sends a request with the token. Reads only the beginning of the body, because nothing is done with it. */
const send = Effect.fnUntraced(function*({ method, path }: Comparison.Probe, { endpoint, token }: Obtained) {
  // a request that has its own token does not use the supply
  const supply = AccessTokens.layer().pipe(Layer.provide(Layer.succeed(TokenEndpoint.TokenEndpoint, endpoint)))
  const client = yield* Effect.provide(GroupClient.make({ name: "API" }), supply)
  const response = yield* client.execute(
    HttpClientRequest.bearerToken(HttpClientRequest.make(method)(path), token.secret)
  )
  yield* Effect.ignore(Stream.runHead(response.stream))
  return response.status
})

const judge = (
  { api, version }: Setup,
  { method, path }: Comparison.Probe,
  status: number,
  reached: Finding
): Effect.Effect<Finding, Failed> => {
  const detail = `${method} ${path} returned ${status}`
  switch (status) {
    case 401:
      return failed(
        `${detail}: the API rejects the token`,
        `Check that ${api.variable}, CREDIT_DATA_AUDIENCE and the authorization server belong to the same ` +
          "environment; if they do, contact the operator."
      )
    case 403:
      return failed(
        `${detail}: the token is not authorized for this path`,
        `${
          version === "v2" ? "Check that CREDIT_DATA_SCOPES has the scope of this endpoint group, then ask" : "Ask"
        } the operator ` +
          "to allow this client the path."
      )
    default:
      if (status < 300) {
        return Effect.succeed({
          ...reached,
          detail: reached.result === "warning" ? `${detail}; ${reached.detail}` : detail
        })
      }
      return Effect.succeed(
        warning(
          `${detail}; the token was not rejected`,
          status < 400
            ? `Correct ${api.variable}: redirects are never followed.`
            : status < 500
            ? `Try a path that exists and needs no parameters; if this one does, check the path in ${api.variable}.`
            : "Try again in a few minutes; if it persists, contact the operator.",
          undefined
        )
      )
  }
}

/** Connects to the API. */
export const reach = (setup: Setup): Effect.Effect<Finding, Failed> =>
  Effect.map(
    connect(setup),
    (reached) => ({ ...reached, detail: `${reached.detail}; the token was not tried (--probe PATH)` })
  )

/** Connects to the API, and sends a request to it. */
export const check = Effect.fnUntraced(
  function*(
    setup: Setup,
    obtained: Obtained,
    probe: Comparison.Probe
  ): Effect.fn.Return<Finding, Failed, HttpClient.HttpClient> {
    const reached = yield* connect(setup)
    const status = yield* send(probe, obtained).pipe(
      Effect.catchTag("ConfigError", (error) => failed("the base URL cannot be used", error.message)),
      Effect.mapError((error) => "_tag" in error ? noResponse(setup.api)(error) : error)
    )
    return yield* judge(setup, probe, status, reached)
  }
)
