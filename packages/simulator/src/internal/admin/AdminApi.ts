// The admin API of the simulator over HTTP, for its console and for programs in any language. Its paths have the version: what breaks a client
// gets a new one.

import * as AccessScope from "@credit-data/core/AccessScope"
import * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiError from "@effect/platform/HttpApiError"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiMiddleware from "@effect/platform/HttpApiMiddleware"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as HttpApiSecurity from "@effect/platform/HttpApiSecurity"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { fixturePath } from "../groups.ts"

/**
 * A request that a server received, without its headers and body. Secrets and tokens are masked.
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
 */
export const Body = Schema.Struct({
  text: Schema.String,
  size: Schema.Int.annotations({ description: "The size of the whole body, in bytes" }),
  cut: Schema.Boolean.annotations({ description: "Whether the text is only the beginning of the body" })
}).annotations({ identifier: "Body" })

/**
 * A request with its headers and body, and its response. Secrets and tokens are masked.
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
 * The requests that have a text, and in how many of all requests it could be found in the bodies.
 */
export const Found = Schema.Struct({
  requests: Schema.Array(Request),
  searchable: Schema.Int.annotations({ description: "How many of all requests still have their bodies" }),
  total: Schema.Int
}).annotations({ identifier: "Found" })

/**
 * An issued token, without its text.
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
 */
const Fault = Schema.Union(
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
 */
export const NewFault = Schema.Struct({
  target,
  fault: Fault,
  times: Schema.optionalWith(times, { default: () => 1 }),
  method: Schema.optional(Schema.String),
  path: Schema.optional(Schema.String).annotations({
    description: "A path without a query. A segment in braces, such as {id}, stands for any one"
  }),
  headers: Schema.optional(headers).annotations({ description: "Headers that a request has, with these values" }),
  percent: Schema.optional(Schema.Finite.pipe(Schema.between(0, 100))).annotations({
    description: "The probability in per cent. A request that the fault does not apply to is not counted"
  })
}).annotations({ identifier: "NewFault", parseOptions: { onExcessProperty: "error" } })

/**
 * A fault that waits for its requests, without its headers and bytes.
 */
export const PendingFault = Schema.Struct({
  id: Schema.Int,
  target,
  fault: Schema.String,
  status: Schema.NullOr(Schema.Finite),
  milliseconds: Schema.NullOr(Schema.Finite).annotations({ description: "Of a Delay" }),
  remaining: Schema.Union(Schema.Finite, Schema.Literal("unlimited")),
  only: Schema.optional(Schema.String).annotations({
    description: "The method, the path and the share of the requests that it applies to, and the names of their headers"
  })
}).annotations({ identifier: "PendingFault" })

/** A response of the business API, as JSON. */
const response = {
  status: Schema.optionalWith(status, { default: () => 200 }),
  headers: Schema.optionalWith(headers, { default: () => ({}) }),
  body: Schema.optional(Schema.Unknown).annotations({
    description: "Any JSON value. Without one, the response has no body"
  })
}

const query = Schema.optional(Schema.Record({ key: Schema.String, value: Schema.String }))

/**
 * A response to the calls with this method, path and query, and the responses to the calls after it.
 */
export const Fixture = Schema.Struct({
  ...response,
  method: Schema.optionalWith(Schema.String.pipe(Schema.pattern(/^[A-Z]+$/)), { default: () => "GET" }),
  path: Schema.String.pipe(Schema.pattern(fixturePath)).annotations({
    description: "A path of the business API. A segment in braces, such as {id}, stands for any one"
  }),
  query: query.annotations({
    description: "Query parameters that a call has with these values. It can have others too"
  }),
  example: Schema.optional(Schema.String).annotations({
    description: "A name, by which a client chooses this response with Prefer: example=name"
  }),
  next: Schema.optional(Schema.Array(Schema.Struct(response))).annotations({
    description: "The responses to the calls after the first one, in order. The last one repeats"
  })
}).annotations({ identifier: "Fixture", parseOptions: { onExcessProperty: "error" } })

/**
 * The settings and counters of the simulator.
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
  fixtures: Schema.Array(Schema.Struct({
    method: Schema.String,
    path: Schema.String,
    query,
    status: Schema.Number.annotations({ description: "Of the response to the next call" }),
    next: Schema.optional(Schema.Array(Schema.Number)).annotations({
      description: "The statuses of the responses after it"
    })
  })).annotations({
    description: "Without their headers and bodies, which can contain anything"
  })
}).annotations({ identifier: "State" })

/**
 * The environment variables that make a program use the simulator. They contain the client secret in clear text.
 */
const Variables = Schema.Record({ key: Schema.String, value: Schema.String }).annotations({
  identifier: "Variables"
})

/**
 * The request has no key, or not the simulator's key. Its body has a tag, so that clients of every version of Effect
 * recognise it.
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
   * The same as the tag.
   */
  override get name(): string {
    return "InvalidKey"
  }
}

/**
 * The key of the simulator, in the header `x-api-key`. A request that changes or reveals something needs it.
 */
export class Key extends HttpApiMiddleware.Tag<Key>()("@credit-data/simulator/AdminApi/Key", {
  failure: InvalidKey,
  security: { key: HttpApiSecurity.apiKey({ key: "x-api-key", in: "header" }) }
}) {}

const byId = Schema.Struct({ id: Schema.NumberFromString.pipe(Schema.int()) })

const reading = HttpApiGroup.make("read")
  .add(
    HttpApiEndpoint.get("state", "/api/v1/state")
      .addSuccess(State)
      .annotate(OpenApi.Summary, "The settings, counters, pending faults and fixtures")
  )
  .add(
    HttpApiEndpoint.get("requests", "/api/v1/requests")
      .addSuccess(Schema.Array(Request))
      .annotate(OpenApi.Summary, "The newest 1 000 requests, without their headers and bodies")
  )
  .add(
    HttpApiEndpoint.get("search", "/api/v1/search")
      .setUrlParams(
        Schema.Struct({
          text: Schema.String.annotations({
            description: "Found in any case, in the address, the headers and the body of a request, and in its response"
          })
        })
      )
      .addSuccess(Found)
      .annotate(OpenApi.Summary, "The requests that contain a text")
  )
  .add(
    HttpApiEndpoint.get("request", "/api/v1/requests/:id")
      .setPath(byId)
      .addSuccess(RequestDetail)
      .addError(HttpApiError.NotFound)
      .annotate(OpenApi.Summary, "A request with its headers and body, and its response")
  )
  .add(
    HttpApiEndpoint.get("tokens", "/api/v1/tokens")
      .addSuccess(Schema.Array(Token))
      .annotate(OpenApi.Summary, "The newest 1 000 issued tokens, without their text")
  )

const control = HttpApiGroup.make("control")
  .add(
    HttpApiEndpoint.post("addFault", "/api/v1/faults")
      .setPayload(NewFault)
      .addSuccess(HttpApiSchema.NoContent)
      .annotate(OpenApi.Summary, "Queues a fault")
  )
  .add(
    HttpApiEndpoint.post("removeFault", "/api/v1/faults/:id/remove")
      .setPath(byId)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(HttpApiError.NotFound)
      .annotate(OpenApi.Summary, "Removes a pending fault")
  )
  .add(
    HttpApiEndpoint.post("clearFaults", "/api/v1/faults/clear")
      .addSuccess(HttpApiSchema.NoContent)
      .annotate(OpenApi.Summary, "Removes all pending faults")
  )
  .add(
    HttpApiEndpoint.post("revokeToken", "/api/v1/tokens/:id/revoke")
      .setPath(byId)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(HttpApiError.NotFound)
      .annotate(OpenApi.Summary, "Makes a token invalid")
  )
  .add(
    HttpApiEndpoint.post("revokeTokens", "/api/v1/tokens/revoke")
      .addSuccess(HttpApiSchema.NoContent)
      .annotate(OpenApi.Summary, "Makes every token invalid that was issued so far")
  )
  .add(
    HttpApiEndpoint.post("grantScopes", "/api/v1/scopes")
      .setPayload(Schema.Struct({ scopes: State.fields.grantedScopes }))
      .addSuccess(HttpApiSchema.NoContent)
      .annotate(OpenApi.Summary, "Changes the scopes that V2 grants")
  )
  .add(
    HttpApiEndpoint.post("rotateSecret", "/api/v1/secret/rotate")
      .addSuccess(HttpApiSchema.NoContent)
      .annotate(OpenApi.Summary, "Changes the client secret. The old one is refused from then on")
  )
  .add(
    HttpApiEndpoint.post("advanceClock", "/api/v1/clock/advance")
      .setPayload(Schema.Struct({ seconds: Schema.Finite.pipe(Schema.between(0, 31_536_000)) }))
      .addSuccess(HttpApiSchema.NoContent)
      .annotate(OpenApi.Summary, "Advances the clock of the simulator")
  )
  .add(
    HttpApiEndpoint.post("addFixture", "/api/v1/fixtures")
      .setPayload(Fixture)
      .addSuccess(HttpApiSchema.NoContent)
      .annotate(OpenApi.Summary, "Adds a fixture, or replaces the one for the same method, path and query")
  )
  .add(
    HttpApiEndpoint.post("removeFixture", "/api/v1/fixtures/remove")
      .setPayload(Schema.Struct({ method: Schema.String, path: Schema.String, query }))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(HttpApiError.NotFound)
      .annotate(OpenApi.Summary, "Removes a fixture")
  )
  .add(
    HttpApiEndpoint.post("clearFixtures", "/api/v1/fixtures/clear")
      .addSuccess(HttpApiSchema.NoContent)
      .annotate(OpenApi.Summary, "Removes all fixtures")
  )
  .add(
    HttpApiEndpoint.post("variables", "/api/v1/variables")
      .addSuccess(Variables)
      .annotate(
        OpenApi.Summary,
        "The variables that make a program use the simulator, with the client secret in clear text"
      )
  )
  .add(
    HttpApiEndpoint.post("reset", "/api/v1/reset")
      .addSuccess(HttpApiSchema.NoContent)
      .annotate(
        OpenApi.Summary,
        "Restores the settings of the start, makes all tokens invalid, and drops pending requests"
      )
  )
  .middleware(Key)

/**
 * The admin API. `GET /api/v1/openapi.json` returns it as an OpenAPI document.
 */
export class AdminApi extends HttpApi.make("simulator").add(reading).add(control).annotate(
  OpenApi.Title,
  "The admin API of the credit-data simulator"
).annotate(OpenApi.Version, "1").annotate(
  OpenApi.Description,
  "GET /api/v1/events is a stream of server-sent events: reset, state, request and token. It continues after the id in the header " +
    "Last-Event-ID."
) {}
