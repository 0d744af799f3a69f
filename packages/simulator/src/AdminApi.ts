/**
 * The admin API of the simulator: reads what it received, and controls it from another process or another language.
 *
 * @since 1.0.0
 */
import * as AccessScope from "@credit-data/core/AccessScope"
import * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiClient from "@effect/platform/HttpApiClient"
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiError from "@effect/platform/HttpApiError"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiMiddleware from "@effect/platform/HttpApiMiddleware"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as HttpApiSecurity from "@effect/platform/HttpApiSecurity"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { fixturePath } from "./internal/groups.ts"

/**
 * A request that a server received, without its headers and body. Secrets and tokens are masked.
 *
 * @since 1.0.0
 * @category schemas
 */
export const Request = Schema.Struct({
  id: Schema.Int,
  server: Schema.Literal("AuthV1", "AuthV2", "Api"),
  ordinal: Schema.Int.annotations({
    description: "Its place among the token requests, or among the calls, since the last reset"
  }),
  receivedAt: Schema.DateTimeUtc,
  method: Schema.String,
  url: Schema.String,
  token: Schema.NullOr(Schema.Int).annotations({ description: "The id of the issued token that it carried" }),
  issuedToken: Schema.NullOr(Schema.Int).annotations({ description: "The id of the token that its response issued" }),
  original: Schema.NullOr(Schema.Int).annotations({
    description: "The id of the request that was sent again as this one"
  }),
  fault: Schema.NullOr(Schema.String).annotations({ description: "The fault that was applied to it" }),
  status: Schema.NullOr(Schema.Int),
  error: Schema.NullOr(Schema.String).annotations({ description: "The OAuth error code in the response" }),
  milliseconds: Schema.NullOr(Schema.Finite).annotations({
    description: "The time to the response, or to the end of the connection. null while the request is pending"
  })
}).annotations({ identifier: "Request" })

const seenHeaders = Schema.Record({ key: Schema.String, value: Schema.String })

/**
 * A body, as far as the simulator has it: the first 64 KiB, and 32 MiB of all newest bodies. Secrets and tokens are masked.
 *
 * @since 1.0.0
 * @category schemas
 */
export const Body = Schema.Struct({
  text: Schema.String,
  size: Schema.Int.annotations({ description: "The size of the whole body, in bytes" }),
  cut: Schema.Boolean.annotations({ description: "Whether the text is only the beginning of the body" })
}).annotations({ identifier: "Body" })

/**
 * A request with its headers and body, and its response. Secrets and tokens are masked.
 *
 * @since 1.0.0
 * @category schemas
 */
export const RequestDetail = Schema.Struct({
  ...Request.fields,
  headers: seenHeaders,
  body: Body,
  response: Schema.NullOr(Schema.Struct({ status: Schema.Int, headers: seenHeaders, body: Body })).annotations({
    description: "null while the request is pending, and if its connection ended without a response"
  })
}).annotations({ identifier: "RequestDetail" })

/**
 * An issued token, without its text.
 *
 * @since 1.0.0
 * @category schemas
 */
export const Token = Schema.Struct({
  id: Schema.Int,
  version: Schema.Literal("V1", "V2"),
  scopes: Schema.Array(Schema.String),
  issuedAt: Schema.DateTimeUtc,
  expiresAt: Schema.DateTimeUtc,
  revoked: Schema.Boolean
}).annotations({ identifier: "Token" })

const status = Schema.Int.pipe(Schema.between(200, 599))
const milliseconds = Schema.Int.pipe(Schema.between(0, 86_400_000)).annotations({ description: "In milliseconds" })
/** The names and values that HTTP accepts (RFC 9110, section 5). Others would become another response on the wire. */
const headers = Schema.Record({
  key: Schema.String.pipe(Schema.pattern(/^[\w!#$%&'*+.^`|~-]+$/)),
  value: Schema.String.pipe(Schema.pattern(/^[\t\x20-\x7e\x80-\xff]*$/))
})

/**
 * A fault as JSON: the faults of the module `Fault`, with durations in milliseconds and bytes as text.
 *
 * @since 1.0.0
 * @category schemas
 */
export const Fault = Schema.Union(
  Schema.TaggedStruct("Response", {
    status,
    headers: Schema.optional(headers),
    body: Schema.optional(Schema.String)
  }),
  Schema.TaggedStruct("Delay", { duration: milliseconds }),
  Schema.TaggedStruct("Silence", {}),
  Schema.TaggedStruct("Reset", {}),
  Schema.TaggedStruct("Bytes", { bytes: Schema.String, ending: Schema.Literal("End", "Reset", "Hang") }),
  Schema.TaggedStruct("Drip", { bytes: Schema.String, every: milliseconds }),
  Schema.TaggedStruct("Endless", { bytes: Schema.String })
).annotations({ identifier: "Fault" })

const times = Schema.Union(Schema.Int.pipe(Schema.between(1, 1_000_000)), Schema.Literal("unlimited"))
const target = Schema.Literal("TokenRequests", "Calls")

/**
 * A fault, and the requests that it applies to: the next ones to the token endpoints, or the next calls of the business API.
 *
 * @since 1.0.0
 * @category schemas
 */
export const NewFault = Schema.Struct({
  target,
  fault: Fault,
  times: Schema.optionalWith(times, { default: () => 1 })
}).annotations({ identifier: "NewFault", parseOptions: { onExcessProperty: "error" } })

/**
 * A fault that waits for its requests, without its headers and bytes.
 *
 * @since 1.0.0
 * @category schemas
 */
export const PendingFault = Schema.Struct({
  id: Schema.Int,
  target,
  fault: Schema.String,
  status: Schema.NullOr(Schema.Finite),
  milliseconds: Schema.NullOr(Schema.Finite).annotations({ description: "Of a Delay" }),
  remaining: Schema.Union(Schema.Finite, Schema.Literal("unlimited"))
}).annotations({ identifier: "PendingFault" })

/**
 * A response of the business API, as JSON.
 *
 * @since 1.0.0
 * @category schemas
 */
export const Fixture = Schema.Struct({
  method: Schema.optionalWith(Schema.String.pipe(Schema.pattern(/^[A-Z]+$/)), { default: () => "GET" }),
  path: Schema.String.pipe(Schema.pattern(fixturePath)).annotations({
    description: "A path of the business API. A segment in braces, such as {id}, stands for any one"
  }),
  status: Schema.optionalWith(status, { default: () => 200 }),
  headers: Schema.optionalWith(headers, { default: () => ({}) }),
  body: Schema.optional(Schema.Unknown).annotations({
    description: "Any JSON value. Without one, the response has no body"
  })
}).annotations({ identifier: "Fixture", parseOptions: { onExcessProperty: "error" } })

/**
 * The settings and counters of the simulator.
 *
 * @since 1.0.0
 * @category schemas
 */
export const State = Schema.Struct({
  environment: Schema.Struct({
    name: Schema.String,
    audience: Schema.String,
    baseUrl: Schema.String,
    authV1Url: Schema.String,
    authV2Url: Schema.String
  }),
  clientId: Schema.String,
  grantedScopes: Schema.Array(Schema.Literal(...AccessScope.all)),
  now: Schema.DateTimeUtc.annotations({ description: "The clock of the simulator" }),
  advanced: Schema.Finite.annotations({ description: "How far the clock was advanced, in milliseconds" }),
  tokenRequests: Schema.Int,
  calls: Schema.Int,
  openConnections: Schema.Int,
  faults: Schema.Array(PendingFault),
  fixtures: Schema.Array(Schema.Struct({ method: Schema.String, path: Schema.String, status: Schema.Number }))
    .annotations({
      description: "Without their bodies, which can contain anything"
    })
}).annotations({ identifier: "State" })

/**
 * The environment variables that make a program use the simulator. They contain the client secret in clear text.
 *
 * @since 1.0.0
 * @category schemas
 */
export const Variables = Schema.Record({ key: Schema.String, value: Schema.String }).annotations({
  identifier: "Variables"
})

/**
 * The request has no key, or not the simulator's key. Its body has a tag, so that clients of every version of Effect
 * recognise it.
 *
 * @since 1.0.0
 * @category errors
 */
export class InvalidKey extends Schema.TaggedError<InvalidKey>("@credit-data/simulator/InvalidKey")(
  "InvalidKey",
  {
    /** What to do. */
    message: Schema.String
  },
  HttpApiSchema.annotations({ status: 401 })
) {
  /**
   * The same as the tag. Error monitors group by it.
   *
   * @since 1.0.0
   */
  override get name(): string {
    return "InvalidKey"
  }
}

/**
 * The key of the simulator, in the header `x-api-key`. A request that changes or reveals something needs it. It is new at
 * each start.
 *
 * @since 1.0.0
 * @category middleware
 */
export class Key extends HttpApiMiddleware.Tag<Key>()("@credit-data/simulator/AdminApi/Key", {
  failure: InvalidKey,
  security: { key: HttpApiSecurity.apiKey({ key: "x-api-key", in: "header" }) }
}) {}

const byId = Schema.Struct({ id: Schema.NumberFromString.pipe(Schema.int()) })

const Resent = Schema.Struct({ id: Schema.Int.annotations({ description: "The id of the new request" }) })

const reading = HttpApiGroup.make("read")
  .add(HttpApiEndpoint.get("state", "/api/state").addSuccess(State))
  .add(HttpApiEndpoint.get("requests", "/api/requests").addSuccess(Schema.Array(Request)))
  .add(
    HttpApiEndpoint.get("search", "/api/search")
      .setUrlParams(Schema.Struct({
        text: Schema.String.annotations({
          description: "Found in any case, in the address, the headers and the body of a request, and in its response"
        })
      }))
      .addSuccess(Schema.Array(Request))
  )
  .add(
    HttpApiEndpoint.get("request", "/api/requests/:id")
      .setPath(byId)
      .addSuccess(RequestDetail)
      .addError(HttpApiError.NotFound)
  )
  .add(HttpApiEndpoint.get("tokens", "/api/tokens").addSuccess(Schema.Array(Token)))

const control = HttpApiGroup.make("control")
  .add(HttpApiEndpoint.post("addFault", "/api/faults").setPayload(NewFault).addSuccess(HttpApiSchema.NoContent))
  .add(
    HttpApiEndpoint.post("removeFault", "/api/faults/:id/remove")
      .setPath(byId)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(HttpApiError.NotFound)
  )
  .add(HttpApiEndpoint.post("clearFaults", "/api/faults/clear").addSuccess(HttpApiSchema.NoContent))
  .add(
    HttpApiEndpoint.post("resendRequest", "/api/requests/:id/resend")
      .setPath(byId)
      .addSuccess(Resent)
      .addError(HttpApiError.NotFound)
  )
  .add(
    HttpApiEndpoint.post("revokeToken", "/api/tokens/:id/revoke")
      .setPath(byId)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(HttpApiError.NotFound)
  )
  .add(HttpApiEndpoint.post("revokeTokens", "/api/tokens/revoke").addSuccess(HttpApiSchema.NoContent))
  .add(
    HttpApiEndpoint.post("grantScopes", "/api/scopes")
      .setPayload(Schema.Struct({ scopes: State.fields.grantedScopes }))
      .addSuccess(HttpApiSchema.NoContent)
  )
  .add(HttpApiEndpoint.post("rotateSecret", "/api/secret/rotate").addSuccess(HttpApiSchema.NoContent))
  .add(
    HttpApiEndpoint.post("advanceClock", "/api/clock/advance")
      .setPayload(Schema.Struct({ seconds: Schema.Finite.pipe(Schema.between(0, 31_536_000)) }))
      .addSuccess(HttpApiSchema.NoContent)
  )
  .add(HttpApiEndpoint.post("addFixture", "/api/fixtures").setPayload(Fixture).addSuccess(HttpApiSchema.NoContent))
  .add(
    HttpApiEndpoint.post("removeFixture", "/api/fixtures/remove")
      .setPayload(Schema.Struct({ method: Schema.String, path: Schema.String }))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(HttpApiError.NotFound)
  )
  .add(HttpApiEndpoint.post("clearFixtures", "/api/fixtures/clear").addSuccess(HttpApiSchema.NoContent))
  .add(HttpApiEndpoint.post("variables", "/api/variables").addSuccess(Variables))
  .add(HttpApiEndpoint.post("reset", "/api/reset").addSuccess(HttpApiSchema.NoContent))
  .middleware(Key)

/**
 * The admin API. `GET /api/openapi.json` returns it as an OpenAPI document. `GET /events` is a stream of server-sent events
 * beside it.
 *
 * @since 1.0.0
 * @category api
 */
export class AdminApi extends HttpApi.make("simulator").add(reading).add(control).annotate(
  OpenApi.Title,
  "The admin API of the credit-data simulator"
).annotate(OpenApi.Version, "1") {}

/**
 * A typed client of the admin API.
 *
 * @since 1.0.0
 * @category constructors
 * @example
 * ```ts
 * import { AdminApi } from "@credit-data/simulator"
 * import { Config, Effect } from "effect"
 *
 * // the variables that the simulator prints when it starts
 * const simulator = Effect.flatMap(
 *   Config.all({ url: Config.string("SIMULATOR_URL"), key: Config.redacted("SIMULATOR_KEY") }),
 *   AdminApi.client
 * )
 *
 * export const outage = Effect.gen(function*() {
 *   const { control } = yield* simulator
 *   yield* control.addFault({
 *     payload: { target: "TokenRequests", fault: { _tag: "Response", status: 503 }, times: "unlimited" }
 *   })
 * })
 * ```
 */
export const client = (options: { readonly url: string; readonly key: Redacted.Redacted }) =>
  HttpApiClient.make(AdminApi, {
    baseUrl: options.url,
    transformClient: HttpClient.mapRequest(
      HttpClientRequest.setHeader("x-api-key", Redacted.value(options.key))
    )
  })
