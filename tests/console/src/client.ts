import { Simulator } from "@credit-data/simulator"
import { Effect, Redacted } from "effect"
import { connect } from "node:net"

/** Sends a request as any program does, and returns its status and body. A connection without a response has the status 0. */
export const send = (url: string, init: RequestInit = {}) =>
  Effect.promise((signal) =>
    fetch(url, { signal, ...init })
      .then(async (response) => ({
        status: response.status,
        headers: response.headers,
        body: await response.text()
      }))
      .catch(() => ({ status: 0, headers: new Headers(), body: "" }))
  )

/** Requests a token, and returns its text. It is empty if there is none. `changes` replace fields of the form. */
export const requestToken = (version: "V1" | "V2", changes: Readonly<Record<string, string>> = {}) =>
  Effect.gen(function*() {
    const { credentials, environment } = yield* Simulator.Simulator
    const { clientId, clientSecret } = yield* credentials
    const form = {
      client_id: clientId,
      client_secret: Redacted.value(clientSecret),
      audience: environment.audience,
      scope: "data-access:all furnishment:all",
      grant_type: "client_credentials",
      ...changes
    }
    const url = version === "V1" ? `${environment.authV1Url}/oauth/token` : `${environment.authV2Url}/oauth2/token`
    const { body } = yield* send(url, { method: "POST", body: new URLSearchParams(form) })
    const token: { readonly access_token?: string } = body.startsWith("{") ? JSON.parse(body) : {}
    return token.access_token ?? ""
  })

/** Calls the business API, and returns the status and the body. */
export const call = (path: string, token?: string, init: RequestInit = {}) =>
  Effect.flatMap(Simulator.Simulator, ({ environment }) =>
    send(`${environment.baseUrl}${path}`, {
      ...init,
      headers: { ...init.headers, ...token === undefined ? {} : { authorization: `Bearer ${token}` } }
    }))

/** Sends this many calls over one connection without waiting for their responses, as fast as the simulator takes them. */
export const flood = (count: number) =>
  Effect.gen(function*() {
    const { awaitReceived, environment } = yield* Simulator.Simulator
    const { host, hostname, port } = new URL(environment.baseUrl)
    yield* Effect.acquireUseRelease(
      Effect.sync(() => connect(Number(port), hostname).resume()),
      (socket) => {
        const calls = Array.from({ length: count }, (_, index) =>
          `GET /data-access/${index} HTTP/1.1\r\nhost: ${host}\r\n\r\n`)
        socket.write(calls.join(""))
        return awaitReceived("Api", count)
      },
      (socket) =>
        Effect.sync(() => socket.destroy())
    )
  })
