import * as AccessScope from "@credit-data/core/AccessScope"
import type * as AccessToken from "@credit-data/core/AccessToken"
import type * as ClientCredentials from "@credit-data/core/ClientCredentials"
import * as Variables from "@credit-data/core/Variables"
import * as HttpHeaders from "@effect/platform/Headers"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Chunk from "effect/Chunk"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { sumAll } from "effect/Number"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import type * as Fault from "../Fault.ts"
import type { Received, Server } from "../Received.ts"
import * as authorizationServer from "./authorizationServer.ts"
import * as businessApi from "./businessApi.ts"
import * as connection from "./connection.ts"
import { type App, serve } from "./httpServer.ts"
import * as TokenStore from "./tokenStore.ts"

const audience = "https://simulator.credit-data.example"

type Handler = (
  request: HttpServerRequest.HttpServerRequest,
  received: Received
) => Effect.Effect<HttpServerResponse.HttpServerResponse>

/** The queue of faults. Each request takes the next one. */
const makeFaults = Effect.map(Ref.make<ReadonlyArray<Fault.Fault>>([]), (faults) => ({
  add: (fault: Fault.Fault, options?: { readonly times: number }) =>
    Ref.update(faults, (waiting) => [...waiting, ...Array.from({ length: options?.times ?? 1 }, () => fault)]),
  next: Ref.modify(faults, ([first, ...others]) => [Option.fromNullable(first), others])
}))

const faulty = (fault: Fault.Fault, usual: Handler): Handler => (request, received) => {
  switch (fault._tag) {
    case "Answer":
      return Effect.succeed(
        HttpServerResponse.raw(fault.body ?? "", {
          status: fault.status,
          headers: HttpHeaders.fromInput(fault.headers)
        })
      )
    case "Delay":
      return Effect.delay(usual(request, received), fault.duration)
    case "Silence":
      return Effect.never
    case "Reset":
      return connection.reset(request)
    case "Bytes":
      return connection.bytes(request, fault)
    case "Drip":
      return connection.drip(request, fault)
    case "Endless":
      return connection.endless(request, fault)
  }
}

const receive = (server: Server, request: HttpServerRequest.HttpServerRequest) =>
  Effect.map(Effect.orDie(request.arrayBuffer), (body): Received => ({
    server,
    method: request.method,
    url: request.url,
    headers: HttpHeaders.remove(request.headers, "authorization"),
    authorization: Option.map(HttpHeaders.get(request.headers, "authorization"), Redacted.make),
    body: Redacted.make(new Uint8Array(body))
  }))

const pathOf = (url: string) => new URL(url, "http://localhost").pathname

/** `expires_in` is in whole seconds, and no server would send 0. */
const shortestLifetime = Duration.seconds(1)

interface Options {
  readonly tokenLifetime: Duration.DurationInput
  readonly wholeSeconds: boolean
  readonly credentials: ClientCredentials.ClientCredentials
  readonly ports: Readonly<Record<Server, number>>
}

/** Starts the three servers, which share one store of tokens. */
export const make = (options: Options) =>
  Effect.gen(function*() {
    const tokens = TokenStore.make(options)
    const tokenLifetime = Duration.decode(options.tokenLifetime)
    if (Duration.greaterThan(shortestLifetime, tokenLifetime) || !Duration.isFinite(tokenLifetime)) {
      return yield* Effect.fail(
        Variables.invalid(["tokenLifetime"], "Expected a finite duration of 1 second or more")
      )
    }
    const credentials = yield* Ref.make(options.credentials)
    const grantedScopes = yield* Ref.make<ReadonlyArray<AccessScope.AccessScope>>(AccessScope.all)
    const received = yield* SubscriptionRef.make(Chunk.empty<Received>())
    const tokenFaults = yield* makeFaults
    const callFaults = yield* makeFaults

    const app = (server: Server, faults: typeof tokenFaults, usual: Handler): App =>
      Effect.gen(function*() {
        const request = yield* HttpServerRequest.HttpServerRequest
        const record = yield* receive(server, request)
        const fault = yield* faults.next
        yield* SubscriptionRef.update(received, Chunk.append(record))
        const handler = Option.match(fault, { onNone: () => usual, onSome: (fault) => faulty(fault, usual) })
        return yield* handler(request, record)
      }).pipe(Effect.interruptible) // the platform runs apps uninterruptibly, but a silent app must end with its connection

    const authorize = (version: "V1" | "V2"): Handler => (_, { body, headers, method, url }) =>
      Effect.flatMap(
        Effect.all({ credentials: Ref.get(credentials), grantedScopes: Ref.get(grantedScopes) }),
        (state) =>
          authorizationServer.answer(version, { ...state, audience, tokenLifetime }, tokens, {
            method,
            path: pathOf(url),
            headers,
            body: Redacted.value(body)
          })
      )

    const call: Handler = (_, { authorization, method, url }) =>
      businessApi.answer(tokens, {
        method,
        path: pathOf(url),
        authorization: Option.map(authorization, Redacted.value)
      })

    const servers = yield* Effect.all({
      authV1: serve(app("AuthV1", tokenFaults, authorize("V1")), options.ports.AuthV1),
      authV2: serve(app("AuthV2", tokenFaults, authorize("V2")), options.ports.AuthV2),
      api: serve(app("Api", callFaults, call), options.ports.Api)
    })

    return {
      environment: {
        name: "simulator",
        audience,
        baseUrl: servers.api.url,
        authV1Url: servers.authV1.url,
        authV2Url: servers.authV2.url
      },
      credentials: Ref.get(credentials),
      received: Effect.map(SubscriptionRef.get(received), Chunk.toReadonlyArray),
      tokenRequests: Effect.map(SubscriptionRef.get(received), (all) =>
        Chunk.size(Chunk.filter(all, ({ server }) => server !== "Api"))),
      awaitReceived: (server: Server, count: number) =>
        received.changes.pipe(
          Stream.takeUntil((all) =>
            Chunk.size(Chunk.filter(all, (each) => each.server === server)) >= count
          ),
          Stream.runDrain
        ),
      openConnections: Effect.map(
        Effect.all(Object.values(servers).map(({ openConnections }) => openConnections)),
        sumAll
      ),
      failTokenRequests: tokenFaults.add,
      failCalls: callFaults.add,
      revokeToken: (token: AccessToken.AccessToken) => tokens.revoke(Redacted.value(token.secret)),
      revokeTokens: tokens.revokeAll,
      grantScopes: (scopes: ReadonlyArray<AccessScope.AccessScope>) => Ref.set(grantedScopes, scopes),
      rotateSecret: Effect.flatMap(
        Random.nextIntBetween(0, 2 ** 48),
        (random) =>
          Ref.updateAndGet(credentials, ({ clientId }) => ({
            clientId,
            clientSecret: Redacted.make(`simulated-secret-${random.toString(36).padStart(23, "0")}`)
          }))
      )
    }
  })
