import * as AccessScope from "@credit-data/core/AccessScope"
import type * as AccessToken from "@credit-data/core/AccessToken"
import type * as ClientCredentials from "@credit-data/core/ClientCredentials"
import * as Variables from "@credit-data/core/Variables"
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpHeaders from "@effect/platform/Headers"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { sumAll } from "effect/Number"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import type * as Fault from "../Fault.ts"
import type * as Fixture from "../Fixture.ts"
import * as Received from "../Received.ts"
import * as authorizationServer from "./authorizationServer.ts"
import { beginning, collect } from "./body.ts"
import * as businessApi from "./businessApi.ts"
import * as Changes from "./changes.ts"
import * as rawResponse from "./rawResponse.ts"
import * as FaultQueue from "./faultQueue.ts"
import { faulty, type Handler } from "./faulty.ts"
import * as fixtures from "./fixtures/respond.ts"
import { type App, serve } from "./httpServer.ts"
import * as Mask from "./mask.ts"
import * as OffsetClock from "./offsetClock.ts"
import * as Outcome from "./outcome.ts"
import * as IssuedTokens from "./issuedTokens.ts"

const audience = "https://simulator.credit-data.example"

/** The user's own business API. */
type HandleCall = (call: Received.Received) => Effect.Effect<HttpServerResponse.HttpServerResponse>

const dotSegment = /^\/(.*\/)?(\.|%2e){1,2}(\/|$)/i

/** The path of a request. The target can be an absolute URL (RFC 9112, section 3.2.2), and a client may not have resolved its dots. */
const pathOf = (url: string) => {
  const path = url.replace(/^https?:\/\/[^/?]*/i, "").replace(/\?.*$/, "")
  return dotSegment.test(path) ? new URL(`http://localhost${path}`).pathname : path
}

const queryOf = (url: string) => new URLSearchParams(url.replace(/^[^?]*/, ""))

/** `expires_in` is in whole seconds, and no server would send 0. */
const shortestLifetime = Duration.seconds(1)

interface Options {
  readonly tokenLifetime: Duration.DurationInput
  readonly wholeSeconds: boolean
  readonly credentials: ClientCredentials.ClientCredentials
  readonly fixtures: ReadonlyArray<Fixture.Fixture>
  readonly host: string
  readonly ports: Readonly<Record<Received.Server, number>>
}

/** What a program can set. A reset restores the initial settings. */
interface Settings {
  readonly credentials: ClientCredentials.ClientCredentials
  readonly grantedScopes: ReadonlyArray<AccessScope.AccessScope>
  readonly fixtures: ReadonlyArray<Fixture.Fixture>
  readonly handleCall: Option.Option<HandleCall>
}

const none: Readonly<Record<Received.Server, number>> = { AuthV1: 0, AuthV2: 0, Api: 0 }

/** Starts the three servers, which share one store of tokens. */
export const make = (options: Options) =>
  Effect.gen(function*() {
    const tokenLifetime = Duration.decode(options.tokenLifetime)
    if (Duration.greaterThan(shortestLifetime, tokenLifetime) || !Duration.isFinite(tokenLifetime)) {
      return yield* Effect.fail(
        Variables.invalid(["tokenLifetime"], "Expected a finite duration of 1 second or more")
      )
    }
    const changes = yield* Changes.make
    const { advance, advanced, clock, elapsedMillis, reset: resetClock } = yield* OffsetClock.make
    const tokens = IssuedTokens.make({ changes, wholeSeconds: options.wholeSeconds })
    const faults = FaultQueue.make()
    const mask = Mask.make(options.credentials.clientSecret)
    const pending = new Map<number, HttpServerRequest.HttpServerRequest>()
    const initial: Settings = {
      credentials: options.credentials,
      grantedScopes: AccessScope.all,
      fixtures: options.fixtures,
      handleCall: Option.none()
    }
    let settings = initial
    let counts = none

    const set = (change: Partial<Settings>) =>
      changes.recordSettings(() => {
        settings = { ...settings, ...change }
      })

    /** Adds a request to the history, with its fault. */
    const receive = Effect.fnUntraced(function*(
      server: Received.Server,
      request: HttpServerRequest.HttpServerRequest,
      body: Uint8Array
    ) {
      const receivedAt = yield* DateTime.now
      const target = server === "Api" ? "Calls" : "TokenRequests"
      // only a request that takes a fault changes the settings, or each request would cost every listener all settings
      const selected = yield* faults.select(target, {
        method: request.method,
        path: pathOf(request.url),
        headers: request.headers
      })
      const record = selected.length > 0 ? changes.recordSettings : changes.record
      const { fault, received } = yield* record((revision) => {
        counts = { ...counts, [server]: counts[server] + 1 }
        const fault = faults.take(selected)
        const authorization = HttpHeaders.get(request.headers, "authorization")
        const received = changes.requests.add(revision, (id) => ({
          id,
          server,
          ordinal: server === "Api" ? counts.Api : counts.AuthV1 + counts.AuthV2,
          receivedAt,
          method: request.method,
          url: request.url,
          headers: HttpHeaders.remove(request.headers, "authorization"),
          authorization: Option.map(authorization, Redacted.make),
          token: Option.flatMap(businessApi.bearer(authorization), tokens.idOf),
          issuedToken: Option.none(),
          body: Redacted.make(beginning(body)),
          bodySize: body.byteLength,
          fault: Option.map(fault, ({ _tag }) => _tag),
          outcome: Received.Pending()
        }))
        pending.set(received.id, request)
        return { fault, received }
      })
      return { fault, received }
    })

    /** Adds the body of a streamed response to its request when the stream has ended. */
    const journaled = (id: number, response: HttpServerResponse.HttpServerResponse) => {
      const { body } = response
      if (body._tag !== "Stream") return response
      const collected = collect()
      const add = changes.record((revision) =>
        changes.requests.change(revision, id, (received) => ({
          ...received,
          outcome: received.outcome._tag === "Responded"
            ? { ...received.outcome, body: Redacted.make(collected.body()), bodySize: collected.size() }
            : received.outcome
        }))
      )
      const stream = body.stream.pipe(
        Stream.tap((part) => Effect.sync(() => collected.add(part))),
        Stream.ensuring(add)
      )
      return HttpServerResponse.setBody(response, HttpBody.stream(stream, body.contentType, body.contentLength))
    }

    const app = (server: Received.Server, usual: Handler): App =>
      // a request that was received has an outcome, even if it is interrupted before it is handled
      Effect.uninterruptibleMask((restore) =>
        Effect.gen(function*() {
          const request = yield* HttpServerRequest.HttpServerRequest
          const startedAt = yield* elapsedMillis
          const body = new Uint8Array(yield* restore(Effect.orDie(request.arrayBuffer)))
          const { fault, received } = yield* receive(server, request, body)
          const handler = Option.match(fault, { onNone: () => usual, onSome: (fault) => faulty(fault, usual) })
          return yield* restore(Effect.suspend(() => handler(request, received, body))).pipe(
            Effect.catchAllDefect((defect) =>
              Effect.as(
                Effect.logError(`The simulated business API failed: ${mask(String(defect))}`),
                HttpServerResponse.unsafeJson({ error: "server_error" }, { status: 500 })
              )
            ),
            Effect.onExit((exit) =>
              Effect.flatMap(elapsedMillis, (endedAt) =>
                changes.record((revision) => {
                  pending.delete(received.id)
                  const outcome = Outcome.make(exit, Duration.millis(endedAt - startedAt), received.method)
                  changes.requests.change(revision, received.id, (received) => ({ ...received, outcome }))
                }))
            ),
            Effect.map((response) => journaled(received.id, response))
          )
        })
      ).pipe(
        Effect.withClock(clock),
        Effect.interruptible // the platform runs apps uninterruptibly, but a silent app must end with its connection
      )

    const authorize = (version: "V1" | "V2"): Handler => (_, { authorization, headers, id, method, url }, body) =>
      authorizationServer.respond(version, { ...settings, audience, tokenLifetime }, tokens, {
        id,
        method,
        path: pathOf(url),
        headers,
        authorization,
        body
      })

    const respondAsApi: Handler = (_, received, body) => {
      const { authorization, method, url } = received
      const call = { method, path: pathOf(url), authorization: Option.map(authorization, Redacted.value) }
      return businessApi.respond(tokens, settings.grantedScopes, call, (group) => {
        const prefer = received.headers["prefer"] ?? ""
        if (settings.fixtures.length > 0) {
          const responded = fixtures.respond(settings.fixtures, { ...call, query: queryOf(url), prefer })
          if (responded.fixtures === settings.fixtures) return Effect.succeed(responded.response)
          // in one step with the choice of the response, or calls at the same time would get one response twice
          settings = { ...settings, fixtures: responded.fixtures }
          return Effect.as(set({}), responded.response)
        }
        return Option.match(settings.handleCall, {
          onNone: () =>
            Effect.succeed(
              HttpServerResponse.setStatus(businessApi.usual(call, group), fixtures.preferredStatus(prefer) ?? 200)
            ),
          onSome: (handle) => handle({ ...received, body: Redacted.make(body) })
        })
      })
    }

    const listen = (server: Received.Server, usual: Handler) =>
      serve(app(server, usual), { host: options.host, port: options.ports[server] })
    const servers = yield* Effect.all({
      authV1: listen("AuthV1", authorize("V1")),
      authV2: listen("AuthV2", authorize("V2")),
      api: listen("Api", respondAsApi)
    })

    const fail =
      (target: Fault.Target) =>
      (fault: Fault.Fault, { times = 1, ...selection }: Fault.Selection & { times?: number | undefined } = {}) =>
        changes.recordSettings(() => faults.add(target, fault, times, selection))

    return {
      environment: {
        name: "simulator",
        audience,
        baseUrl: servers.api.url,
        authV1Url: servers.authV1.url,
        authV2Url: servers.authV2.url
      },
      credentials: Effect.sync(() => settings.credentials),
      received: Effect.sync(changes.requests.all),
      changes: changes.since,
      tokenRequests: Effect.sync(() => counts.AuthV1 + counts.AuthV2),
      counts: Effect.sync(() => counts),
      awaitReceived: (server: Received.Server, count: number) =>
        changes.revisions.pipe(
          Stream.filter(() => counts[server] >= count),
          Stream.take(1),
          Stream.runDrain
        ),
      openConnections: Effect.map(
        Effect.all(Object.values(servers).map(({ openConnections }) => openConnections)),
        sumAll
      ),
      failTokenRequests: fail("TokenRequests"),
      failCalls: fail("Calls"),
      faults: Effect.sync(faults.pending),
      removeFault: (id: number) => changes.recordSettings(() => faults.remove(id)),
      clearFaults: changes.recordSettings(faults.clear),
      tokens: Effect.sync(changes.tokens.all),
      revokeToken: (token: AccessToken.AccessToken) => tokens.revoke(Redacted.value(token.secret)),
      revokeTokenById: tokens.revokeById,
      revokeTokens: tokens.revokeAll,
      grantedScopes: Effect.sync(() => settings.grantedScopes),
      grantScopes: (scopes: ReadonlyArray<AccessScope.AccessScope>) => set({ grantedScopes: scopes }),
      rotateSecret: Effect.flatMap(Random.nextIntBetween(0, 2 ** 48), (random) => {
        const clientSecret = Redacted.make(Mask.rotatedSecret(random))
        const credentials = { clientId: options.credentials.clientId, clientSecret }
        return Effect.as(set({ credentials }), credentials)
      }),
      handleCalls: (handle: HandleCall) => set({ handleCall: Option.some(handle) }),
      fixtures: Effect.sync(() => settings.fixtures),
      setFixtures: (fixtures: ReadonlyArray<Fixture.Fixture>) => set({ fixtures }),
      now: DateTime.now.pipe(Effect.withClock(clock)),
      advanced,
      advanceClock: (duration: Duration.DurationInput) =>
        Effect.zipRight(advance(Duration.decode(duration)), changes.recordSettings(() => undefined)),
      mask,
      reset: Effect.zipRight(
        resetClock,
        changes.recordReset(() => {
          for (const request of pending.values()) rawResponse.close(request)
          faults.clear()
          tokens.clear()
          settings = initial
          counts = none
        })
      )
    }
  })
