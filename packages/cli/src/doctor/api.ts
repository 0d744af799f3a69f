import type { AccessToken } from "@credit-data/core/AccessToken"
import * as AccessTokens from "@credit-data/core/AccessTokens"
import { Transport } from "@credit-data/core/Internal"
import * as TokenEndpoint from "@credit-data/core/TokenEndpoint"
import * as GroupClient from "@credit-data/http-client/GroupClient"
import type * as Comparison from "../comparison.ts"
import type * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import type { Setup } from "./configuration.ts"
import * as Connection from "./connection.ts"
import * as Handshake from "./handshake.ts"
import { failed, type Finding, ok, warning } from "./step.ts"

const isAtAuthorizationServer = ({ api, authorizationServer }: Setup) =>
  api.url.origin === authorizationServer.url.origin

/** Name, connection and TLS of the API, if they were not examined with the authorization server. */
const connect = Effect.fnUntraced(function*(setup: Setup): Effect.fn.Return<Finding, Finding> {
  const { api } = setup
  if (isAtAuthorizationServer(setup)) return ok(`${api.variable} leads to the authorization server`)
  yield* Connection.resolve(api)
  const connected = yield* Connection.check(api)
  const secured = yield* Handshake.check(api)
  return secured.result === "skipped" ? connected : { ...secured, detail: `${connected.detail}, ${secured.detail}` }
})

const noResponse = ({ api: { role, variable } }: Setup, error: GroupClient.GroupClientError) =>
  !HttpClientError.isHttpClientError(error) || error._tag === "ResponseError"
    ? failed(
      `no usable response: ${error._tag}`,
      `Check what responds at ${variable}: the API, or a proxy instead.`
    )
    : error.reason === "InvalidUrl"
    ? failed("the path is not below the base URL", `Give a path below ${variable}, without its host.`)
    : failed(
      `no response (${Transport.reason(error)})`,
      Transport.describe(error, { name: role, address: variable })
    )

/** Sends a request with the token. Reads only the beginning of the body, because nothing is done with it. */
const send = Effect.fnUntraced(function*(
  { method, path }: Comparison.Probe,
  client: GroupClient.GroupClient,
  token: AccessToken
) {
  const response = yield* client.execute(
    HttpClientRequest.bearerToken(HttpClientRequest.make(method)(path), token.secret)
  )
  yield* Effect.ignore(Stream.runHead(response.stream))
  return response
})

const judge = (
  setup: Setup,
  { method, path }: Comparison.Probe,
  { headers, status }: HttpClientResponse.HttpClientResponse,
  reached: Finding
): Effect.Effect<Finding, Finding> => {
  const { api, version } = setup
  const detail = `${method} ${path} returned ${status}`
  const elsewhere = isAtAuthorizationServer(setup)
    ? `${api.variable} leads to the authorization server: set it to the address of the API. `
    : ""
  const encoding = headers["content-encoding"] ?? "identity"
  if (/^text\/html\b/i.test(headers["content-type"] ?? "")) {
    return failed(
      `${detail} with an HTML page`,
      `The API returns no pages: a gateway, firewall, proxy or login page probably responds instead. Check ${api.variable}, the ` +
        "proxy settings, and whether the address of this machine is allowed."
    )
  }
  if (status === 401) {
    return failed(
      `${detail}: the API rejects the token`,
      `${elsewhere}Check that ${api.variable}, CREDIT_DATA_AUDIENCE and the authorization server belong to the same environment; if they do, ` +
        "contact the operator."
    )
  }
  if (status === 403) {
    const ask = version === "v2"
      ? "Check that CREDIT_DATA_SCOPES has the scope of this endpoint group, then ask"
      : "Ask"
    return failed(
      `${detail}: the token is not authorized for this path`,
      `${ask} the operator to allow this client the path.`
    )
  }
  if (status >= 300 && status < 400) {
    return failed(`${detail}, a redirect`, `Correct ${api.variable}: redirects are never followed.`)
  }
  if (status >= 400) {
    const advice = status < 500
      ? `Try a path that exists and needs no parameters; if this one does, check the path in ${api.variable}.`
      : "Try again in a few minutes; if it persists, contact the operator."
    return Effect.succeed(
      warning(`${detail}; the token was not rejected`, status < 500 ? `${elsewhere}${advice}` : advice)
    )
  }
  if (encoding !== "identity") {
    return Effect.succeed(warning(
      `${detail}; the body is compressed (${encoding}), which was not requested`,
      "Ask the operator, or the administrator of the proxy, to compress only for clients that accept it: others get bytes that they " +
        "cannot read."
    ))
  }
  return Effect.succeed({
    ...reached,
    detail: reached.result === "warning" ? `${detail}; ${reached.detail}` : detail
  })
}

/** Connects to the API. */
export const reach = (setup: Setup): Effect.Effect<Finding, Finding> =>
  Effect.map(
    connect(setup),
    (reached) => ({ ...reached, detail: `${reached.detail}; the token was not tried (--probe PATH)` })
  )

/** For each probe, what connects to the API and sends a request to it. */
export const checks = Effect.fnUntraced(
  function*(setup: Setup, token: AccessToken, probes: ReadonlyArray<Comparison.Probe>) {
    // a request that has its own token does not use the supply
    const supply = Layer.provide(
      AccessTokens.layer(),
      Layer.succeed(TokenEndpoint.TokenEndpoint, setup.endpoint)
    )
    const makeClient = yield* Effect.cached(Effect.provide(GroupClient.make({ name: "API" }), supply))
    return probes.map((probe): Effect.Effect<Finding, Finding, HttpClient.HttpClient> =>
      Effect.gen(function*() {
        const reached = yield* connect(setup)
        const client = yield* Effect.catchAll(
          makeClient,
          (error) => failed("the base URL cannot be used", error.message)
        )
        const response = yield* Effect.catchAll(send(probe, client, token), (error) => noResponse(setup, error))
        return yield* judge(setup, probe, response, reached)
      })
    )
  }
)
