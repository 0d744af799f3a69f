import { AuthV1 } from "@credit-data/auth-v1"
import { AuthV2 } from "@credit-data/auth-v2"
import {
  AccessTokens,
  ClientCredentials,
  Environment,
  TokenError,
  TokenEvent,
  TokenStatus,
  Variables
} from "@credit-data/core"
import { DataAccess, Fetch, GroupClient, InsufficientScope } from "@credit-data/http-client"
import { SimulatorConsole, Fault, Simulator } from "@credit-data/simulator"
import { HealthCheck } from "@credit-data/telemetry"
import { HttpClient } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import {
  Config,
  ConfigProvider,
  DateTime,
  Duration,
  Effect,
  Exit,
  Layer,
  Logger,
  Option,
  Redacted,
  Scope
} from "effect"
import { inspect } from "node:util"

// What users of both versions of Effect see in many situations, as text. A test compares the texts.

/** What differs from run to run. */
const stable = (text: string): string =>
  text
    .replaceAll(/127\.0\.0\.1:\d+/g, "127.0.0.1:0")
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z/g, "<instant>")
    .replaceAll(/"date":"[^"]*"/g, "\"date\":\"<instant>\"")
    .replaceAll(/simulated\.V\d\.\d+\.\w+/g, "<token>")

const sorted = (_: string, value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value

const json = (value: unknown): string => JSON.stringify(JSON.parse(JSON.stringify(value) ?? "null"), sorted) ?? ""

const where = { environment: "test", tokenEndpoint: "https://v2.example/oauth2/token" }

/** The tag, the message and the JSON of each error. */
const errors: Readonly<Record<string, { readonly _tag: string } & Error>> = {
  InvalidClient: new TokenError.InvalidClient({ ...where, status: 401, error: "invalid_client", description: "no" }),
  ServerError: new TokenError.ServerError({ ...where, status: 503, retryAfter: Duration.seconds(2) }),
  "ServerError without a code": new TokenError.ServerError({ ...where, status: 403 }),
  "InvalidResponse Json": new TokenError.InvalidResponse({ ...where, status: 200, rule: "Json" }),
  "InvalidResponse Expired": new TokenError.InvalidResponse({ ...where, status: 200, rule: "Expired" }),
  "TransportError Timeout": new TokenError.TransportError({ ...where, reason: "Timeout", deadlineEnded: true }),
  "TransportError Proxy": new TokenError.TransportError({
    ...where,
    reason: "Proxy",
    proxy: "proxy:3128",
    proxyStatus: 407
  }),
  "TransportError with an instant": new TokenError.TransportError({
    ...where,
    reason: "Reset",
    nextTryAt: DateTime.unsafeMake(0)
  }),
  InsufficientScope: new InsufficientScope.InsufficientScope({
    environment: "test",
    needed: "data-access:all",
    granted: []
  })
}

const ofErrors = Object.entries(errors).flatMap(([name, error]) =>
  [
    [`${name}, its tag`, error._tag],
    [`${name}, its name`, error.name],
    [`${name}, its message`, error.message],
    [`${name}, its JSON`, json(error)]
  ] as const
)

/** What `console.log` prints of an error. */
const printed = (error: Error): string =>
  inspect(error).startsWith(`${error.name}: ${error.message}\n    at `) ? "name, message and stack" : "the JSON"

/** The text of what a Config or a layer fails with. */
const failureOf = <A, E>(effect: Effect.Effect<A, E>, variables: Record<string, string> = {}) =>
  effect.pipe(
    Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(variables)))),
    Effect.flip,
    Effect.map(String),
    Effect.orElseSucceed(() => "it succeeded")
  )

const building = (layer: Layer.Layer<AccessTokens.AccessTokens, unknown, HttpClient.HttpClient>) =>
  Effect.scoped(Layer.build(Layer.provide(layer, NodeHttpClient.layer)))

const environment = { name: "test", audience: "a", baseUrl: "https://api.example", authV2Url: "https://v2.example" }
const credentials = { clientId: "id", clientSecret: Redacted.make("a secret") }

const ofConfiguration = Effect.all({
  "no variable of V2": failureOf(building(AuthV2.layerConfig())),
  "no variable of V1": failureOf(building(AuthV1.layerConfig())),
  "wrong variables": failureOf(building(AuthV2.layerConfig()), {
    CREDIT_DATA_ENVIRONMENT: "test",
    CREDIT_DATA_AUDIENCE: " a",
    CREDIT_DATA_BASE_URL: "http://api.example",
    CREDIT_DATA_AUTH_V2_URL: "nonsense",
    CREDIT_DATA_CLIENT_ID: "id",
    CREDIT_DATA_CLIENT_SECRET: "",
    CREDIT_DATA_SCOPES: "all"
  }),
  "a wrong option": failureOf(
    building(AuthV2.layer({ environment, credentials, scopes: ["data-access:all"], deadline: "0 seconds" }))
  ),
  "a wrong environment": failureOf(
    building(
      AuthV2.layer({ environment: { ...environment, baseUrl: "ftp://a" }, credentials, scopes: ["data-access:all"] })
    )
  ),
  "a literal that is missing": failureOf(
    Variables.read({ mode: Variables.literal("MODE", { description: "the mode", values: ["on", "off"] }) })
  ),
  "a literal that is wrong": failureOf(
    Variables.read({ mode: Variables.literal("MODE", { description: "the mode", values: ["on", "off"] }) }),
    { MODE: "x" }
  ),
  "credentials that are missing": failureOf(Variables.read(ClientCredentials.config)),
  "the program's own secret is missing": Effect.map(
    failureOf(Variables.read({ own: Config.redacted("PARTNER_SECRET") })),
    (text) => (text.includes("- PARTNER_SECRET is missing: ") ? "it is missing" : text)
  ),
  "an address that is missing": failureOf(
    Variables.read({ url: Environment.url("A_URL", { description: "an address" }) })
  ),
  "{ seconds: 1 } as a duration": Effect.succeed(
    Option.match(Duration.decodeUnknown({ seconds: 1 }), { onNone: () => "it is no duration", onSome: Duration.format })
  ),
  "an invalid option": Effect.succeed(Variables.invalid(["deadline"], "Expected a duration").message)
})

/** How the simulator's admin API responds to requests that it cannot accept. */
const ofAdminApi = Effect.gen(function*() {
  const { key, url } = yield* SimulatorConsole.SimulatorConsole
  const json = { "content-type": "application/json" }
  const withKey = { ...json, "x-api-key": Redacted.value(key) }
  const status = (path: string, init?: RequestInit) =>
    Effect.promise(() => fetch(`${url}${path}`, init).then(({ status }) => String(status)))
  return yield* Effect.all({
    "a body that is no JSON": status("/api/v1/faults", { method: "POST", headers: withKey, body: "{" }),
    "an empty body": status("/api/v1/faults", { method: "POST", headers: withKey }),
    "a wrong fault": status("/api/v1/faults", { method: "POST", headers: withKey, body: "{}" }),
    "a body that is text": status("/api/v1/faults", {
      method: "POST",
      headers: { ...withKey, "content-type": "text/plain" },
      body: "a"
    }),
    "an id that is no number": status("/api/v1/tokens/x/revoke", { method: "POST", headers: withKey }),
    "an unknown token": status("/api/v1/tokens/9/revoke", { method: "POST", headers: withKey }),
    "no key": status("/api/v1/reset", { method: "POST", headers: json }),
    "another method": status("/api/v1/reset", { headers: withKey }),
    "an unknown path": status("/api/v1/unknown", { headers: withKey })
  })
}).pipe(
  Effect.map((statuses) =>
    Object.entries(statuses).map(([name, status]) => [`the admin API: ${name}`, status] as const)
  ),
  Effect.provide(SimulatorConsole.layer().pipe(Layer.provide(Simulator.layer())))
)

const auth = AuthV2.layerConfig()

/** Situations over a simulator and real sockets. */
const ofCalls = Effect.gen(function*() {
  const simulator = yield* Simulator.Simulator
  const tokens = yield* AccessTokens.AccessTokens
  const client = yield* DataAccess.DataAccess
  const shown = <A, E>(effect: Effect.Effect<A, E>, show: (value: A) => unknown = () => "succeeded") =>
    Effect.match(effect, {
      onFailure: (error) => stable(json(error)),
      onSuccess: (value) => stable(String(show(value)))
    })
  yield* simulator.failTokenRequests(Fault.oauthError(400, "invalid_scope", "The scope is not allowed."))
  const refused = yield* shown(tokens.get)
  const refusedStatus = yield* tokens.status
  const refresh = yield* shown(tokens.refresh, json)
  const call = yield* shown(client.get("/data-access/consumers/42"), json)
  const text = yield* shown(
    client.get("/data-access/consumers/42"),
    (response) => String(response).includes("\n") ? "many lines" : "one line"
  )
  yield* simulator.failCalls(Fault.Response({ status: 401 }), { times: 2 })
  const rejected = yield* shown(client.get("/data-access/consumers/42"), ({ status }) => status)
  const rejectedStatus = yield* tokens.status
  const missing = yield* shown(client.get("/nothing"), ({ status }) => status)
  const elsewhere = yield* Effect.map(
    Effect.flip(client.get("https://elsewhere.example")),
    ({ message }) => stable(message)
  )
  yield* simulator.failCalls(Fault.Response({ status: 200, body: "no JSON" }))
  const undecodable = yield* Effect.map(
    Effect.flip(Effect.flatMap(client.get("/data-access/a"), ({ json }) => json)),
    (error) => (error instanceof Error ? error.message : "")
  )
  const plain = yield* shown(GroupClient.toHttpClient(client).get("/data-access/b"), ({ status }) => status)
  const fetch = yield* Fetch.make(client)
  const fetched = yield* Effect.promise(() => fetch("/data-access/c").then(({ status }) => String(status)))
  const unsupported = yield* Effect.promise(() => fetch("/a", { method: "PURGE" }).then(String, String))
  const scope = yield* Scope.make()
  const closed = yield* Scope.extend(Fetch.make(client), scope)
  yield* Scope.close(scope, Exit.void)
  const afterClosing = yield* Effect.promise(() => closed("/a").then(() => "it succeeded", () => "it rejected"))
  const status = yield* tokens.status
  const ready = yield* HealthCheck.ready
  const event = TokenEvent.Invalidated({ at: DateTime.unsafeMake(0), tokenEndpoint: where.tokenEndpoint })
  return {
    "a refused token request": refused,
    "an error, printed by Node": printed(new TokenError.ServerError({ ...where, status: 503 })),
    "the status after it": `${refusedStatus.phase} ${
      TokenStatus.isUsable(refusedStatus)
    } ${refusedStatus.consecutiveFailures}`,
    "a refreshed token": refresh,
    "a response": call,
    "a response, as text": text,
    "a call whose replacement is rejected too": rejected,
    "the status after it is rejected": `${rejectedStatus.phase} ${rejectedStatus.rejected}`,
    "a 404": missing,
    "a call to elsewhere": elsewhere.replace(/^(Transport|InvalidUrl)[^:]*: /, "").replace(/ \(GET .*\)$/, ""),
    "a body that is no JSON": undecodable.split(":")[0] ?? "",
    "a plain client": plain,
    "a fetch": fetched,
    "a fetch with an unsupported method": unsupported,
    "a fetch after its scope closed": afterClosing,
    "a token, printed": stable(String(yield* tokens.get)),
    "a token in JSON": stable(json(yield* tokens.get)),
    "the fields of a status": Object.keys(status).toSorted().join(" "),
    "the requested scopes": json(tokens.requestedScopes),
    "the readiness": String(ready.status),
    "an event": json(event)
  }
}).pipe(
  Effect.scoped,
  Effect.provide(
    DataAccess.layer().pipe(
      Layer.provideMerge(auth),
      Layer.provide(NodeHttpClient.layer),
      Layer.provide(Simulator.layerConfigProvider),
      Layer.provideMerge(Simulator.layer()),
      Layer.provide(Logger.remove(Logger.defaultLogger))
    )
  )
)

/** All situations, with what a user sees. */
export const behaviour: Effect.Effect<Readonly<Record<string, string>>, unknown> = Effect.gen(function*() {
  return {
    ...Object.fromEntries(ofErrors),
    ...(yield* ofConfiguration),
    ...(yield* ofCalls),
    ...Object.fromEntries(yield* ofAdminApi)
  }
})
