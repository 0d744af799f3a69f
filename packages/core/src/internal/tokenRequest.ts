import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as HttpTraceContext from "@effect/platform/HttpTraceContext"
import type * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import type { AccessScope } from "../AccessScope.ts"
import { AccessToken } from "../AccessToken.ts"
import type { ClientCredentials } from "../ClientCredentials.ts"
import type { Environment } from "../Environment.ts"
import {
  InvalidClient,
  InvalidResponse,
  type ResponseRule,
  ServerError,
  type TokenError,
  TransportError,
  type TransportReason
} from "../TokenError.ts"
import * as advice from "./advice.ts"
import { responseReason } from "./httpError.ts"
import { noLifetime } from "./logLines.ts"
import { longestPauseAfter } from "./pauses.ts"
import { clientOf, withoutSecrets } from "./printable.ts"
import {
  isEncodingFault,
  isStatusError,
  type Stage,
  type TransportFailure,
  transportFailure
} from "./transportFailure.ts"
import * as validation from "./validation.ts"
import { within } from "./within.ts"

// One token request, from top to bottom: the form, the request, the bounded read of the response, and what the response means.

/** What decides whether an adapter has more specific advice: the status of a failure, or why there was no response. */
export interface Symptom {
  readonly status?: number | undefined
  readonly reason?: TransportReason | undefined
}

interface Options {
  /** A client that is restricted to the token endpoint. */
  readonly client: HttpClient.HttpClient
  readonly tokenEndpoint: string
  readonly environment: Environment
  /** Undefined for an endpoint without scopes, whose tokens cover what the server decides. */
  readonly scopes: Arr.NonEmptyReadonlyArray<AccessScope> | undefined
  readonly propagateTrace: boolean
  readonly hint: (symptom: Symptom) => string | undefined
}

/** The form of the contract, sections 4.1 and 4.2. It has a scope field only for an endpoint with scopes. */
const form = ({ environment, scopes }: Options, credentials: ClientCredentials) => [
  ["client_id", credentials.clientId] as const,
  ["client_secret", Redacted.value(credentials.clientSecret)] as const,
  ["audience", environment.audience] as const,
  ...(scopes === undefined ? [] : [["scope", scopes.join(" ")] as const]),
  ["grant_type", "client_credentials"] as const
]

const failureAt = (stage: Stage) => (error: HttpClientError.HttpClientError): TransportFailure =>
  HttpClientError.isHttpClientError(error) ? transportFailure(error, stage) : { reason: "Other" }

/**
 * The largest response of a token endpoint, after decompression.
 * @limit bytes
 */
export const maxSize = 1024 * 1024

/** The response of a server, read to its end, or until it is too large. */
const readBody = ({ headers, status, stream }: HttpClientResponse.HttpClientResponse) =>
  Effect.suspend(() => {
    const chunks: Array<Uint8Array> = []
    let size = 0
    return Stream.runForEachWhile(stream, (chunk) =>
      Effect.sync(() => {
        chunks.push(chunk)
        size += chunk.length
        return size <= maxSize
      })).pipe(
        Effect.match({
          onSuccess: () => size <= maxSize ? undefined : "Size" as const,
          onFailure: (error) =>
            responseReason(error) === "EmptyBody"
              ? undefined
              : isEncodingFault(error)
              ? "Encoding" as const
              : failureAt("Body")(error)
        }),
        // what went wrong with the body, if anything did
        Effect.map((fault) => ({ status, retryAfter: headers["retry-after"], chunks, fault }))
      )
  })

type ServerResponse = Effect.Effect.Success<ReturnType<typeof readBody>>

const propagate = (request: HttpClientRequest.HttpClientRequest) =>
  Effect.withFiberRuntime<HttpClientRequest.HttpClientRequest>((fiber) =>
    // where tracing is off, the span has no ids
    fiber.getFiberRef(FiberRef.currentTracerEnabled)
      ? Effect.match(Effect.currentSpan, {
        onFailure: () => request,
        onSuccess: (span) => HttpClientRequest.setHeaders(request, HttpTraceContext.toHeaders(span))
      })
      : Effect.succeed(request)
  )

/** Posts the form and reads the response. The client's errors contain the request, so only what is known of a failure remains. */
const send = (options: Options, credentials: ClientCredentials): Effect.Effect<ServerResponse, TransportFailure> => {
  const request = HttpClientRequest.post(options.tokenEndpoint).pipe(
    HttpClientRequest.acceptJson,
    HttpClientRequest.bodyUrlParams(form(options, credentials))
  )
  return Effect.flatMap(options.propagateTrace ? propagate(request) : Effect.succeed(request), options.client.execute)
    .pipe(
      // a client that refuses every status except 2xx has still received a response
      Effect.catchIf(isStatusError, (error) => Effect.succeed(error.response)),
      Effect.mapError(failureAt("Request")),
      Effect.flatMap(readBody),
      // A defect of the transport may contain the request, and a transport that interrupts itself would interrupt all callers.
      // An interruption from outside is not caught here.
      Effect.catchAllCause((cause) =>
        Effect.fail(Option.getOrElse(Cause.failureOption(cause), (): TransportFailure => ({ reason: "Other" })))
      )
    )
}

type Json = Readonly<Record<string, unknown>>

/** The JSON object of a body, or the rule that it breaks. Nothing of the body is kept in a failure. */
const parseObject = (chunks: ReadonlyArray<Uint8Array>): Json | ResponseRule => {
  const decoder = new TextDecoder("utf-8", { fatal: true })
  let text: string
  try {
    text = chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("") + decoder.decode()
  } catch {
    return "Utf8"
  }
  try {
    const json: unknown = JSON.parse(text)
    return Predicate.isRecord(json) ? json : "Object"
  } catch {
    return "Json"
  }
}

const textOf = (value: unknown): string | undefined => Predicate.isString(value) && value !== "" ? value : undefined

/** A number of seconds. Some servers send it as text. */
const secondsOf = (value: unknown): number | undefined => {
  const seconds = Predicate.isString(value) && /^\d+$/.test(value) ? Number(value) : value
  return Predicate.isNumber(seconds) && Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined
}

/**
 * The longest access token.
 * @limit bytes
 */
export const longestToken = 64 * 1024

/**
 * The fields of the access token response (contract, section 2), or the rule that it breaks. `expires_in` and `scope` may be missing
 * (RFC 6749, section 5.1), and `null` counts as missing. Other fields are ignored.
 */
const decode = (json: Json) => {
  // a token must fit into a header: visible ASCII (RFC 6749, appendix A.12, without the space)
  const accessToken = textOf(json["access_token"]) ?? ""
  if (accessToken.length > longestToken || !/^[\x21-\x7e]+$/.test(accessToken)) return "AccessToken"
  if (textOf(json["token_type"])?.toLowerCase() !== "bearer") return "TokenType"
  const expiresInSeconds = secondsOf(json["expires_in"])
  if (expiresInSeconds === undefined && !Predicate.isNullable(json["expires_in"])) return "ExpiresIn"
  const { scope } = json
  if (!Predicate.isString(scope) && !Predicate.isNullable(scope)) return "Scope"
  return { accessToken: Redacted.make(accessToken), expiresInSeconds, scope: scope ?? undefined }
}

/**
 * The wait in milliseconds that a `Retry-After` header requests (RFC 9110, section 10.2.3): whole seconds or an HTTP date. The wait is
 * limited. Of a header that was sent twice, the first value counts.
 */
const retryAfter = (header: string, nowMillis: number, longest: number): number | undefined => {
  const [seconds] = /^\d+(?=\s*(?:,|$))/.exec(header.trim()) ?? []
  const [date] = /^[A-Z][a-z]+,? .*?(?:GMT|$)/.exec(header.trim()) ?? []
  const wait = seconds !== undefined
    ? Number(seconds) * 1_000
    // the oldest form, asctime, is in GMT but has no `GMT` at its end
    : date === undefined
    ? Number.NaN
    : Date.parse(date.endsWith("GMT") ? date : `${date} GMT`) - nowMillis
  return wait >= 0 ? Math.min(wait, longest) : undefined
}

/**
 * The lifetime of a token without `expires_in`: short, because the true lifetime is unknown.
 * @limit time
 */
export const unknownLifetime = Duration.minutes(5)

/**
 * The longest use of a token, even with a longer `expires_in`.
 * @limit time
 */
export const longestLifetime = Duration.days(7)

/**
 * The time before the end of `expires_in` at which a token expires here, or a tenth of `expires_in` if that is less.
 * @limit time
 */
export const expiryMargin = Duration.seconds(1)

/** The time for which a token with this lifetime may be sent. All other code uses `expiresAt` without a margin. */
const usableFor = (seconds: number): Duration.Duration => {
  const lifetime = Duration.seconds(Math.floor(seconds))
  const usable = Duration.subtract(lifetime, Duration.min(expiryMargin, Duration.times(lifetime, 0.1)))
  return Duration.min(usable, longestLifetime)
}

/** Describes what looks wrong with the refused values, which may consist of any characters. Never shows them. */
const suspicion = ({ clientId, clientSecret }: ClientCredentials): string | undefined => {
  const secret = Redacted.value(clientSecret)
  const odd = [
    ...(secret === secret.trim() ? [] : ["The client secret begins or ends with a space."]),
    ...(validation.isQuoted(secret.trim()) ? ["The client secret is surrounded by quotes."] : []),
    ...(validation.isQuoted(clientId) ? ["The client id is surrounded by quotes."] : [])
  ]
  return odd.length === 0
    ? undefined
    : `${odd.join(" ")} Remove what is not part of the value. ${advice.refusedClient}`
}

/** Sends one POST to the token endpoint and returns the token, within the given time. */
export const tokenRequest = (
  options: Options
): (credentials: ClientCredentials, time: Duration.Duration) => Effect.Effect<AccessToken, TokenError> => {
  const { environment, scopes, tokenEndpoint } = options
  const whereOf = ({ clientId }: ClientCredentials) => ({ environment: environment.name, clientId, tokenEndpoint })
  const hinted = (credentials: ClientCredentials, symptom: Symptom, more?: string) => {
    const hint = more ?? options.hint(symptom)
    return hint === undefined ? whereOf(credentials) : { ...whereOf(credentials), hint }
  }

  const noResponse = (
    credentials: ClientCredentials,
    { deadline, hint, proxy, proxyStatus, reason }: TransportFailure
  ) =>
    new TransportError({
      ...hinted(credentials, { reason }, hint),
      reason,
      ...(deadline !== undefined && { deadline }),
      ...(reason === "Proxy" && { proxy, proxyStatus })
    })

  /** The failure that a server reported, in the OAuth error body (contract, section 2) if it sent one. */
  const failureOf = (response: ServerResponse, body: Json, credentials: ClientCredentials, nowMillis: number) => {
    const { status } = response
    const tokens = ["access_token", "refresh_token", "id_token"].flatMap((name) => textOf(body[name]) ?? [])
    const secrets = [Redacted.value(credentials.clientSecret), ...tokens]
    const shown = (text: string | undefined) => text === undefined ? undefined : withoutSecrets(text, secrets)
    // Some servers send an `error_hint` too, which neither the contract nor RFC 6749 has.
    const fields = {
      endpointStatus: status,
      error: shown(textOf(body["error"])),
      description: shown(textOf(body["error_description"]))
    }
    if (status === 401 || ((status === 400 || status === 403) && body["error"] === "invalid_client")) {
      return new InvalidClient({ ...hinted(credentials, { status }, suspicion(credentials)), ...fields })
    }
    const wait = response.retryAfter === undefined
      ? undefined
      : retryAfter(response.retryAfter, nowMillis, longestPauseAfter(response.status))
    const { audience } = environment
    const audienceHint = status < 500 && status !== 429 && validation.isQuoted(audience)
      ? "The audience is surrounded by quotes. Remove what is not part of the value."
      : body["error"] === "invalid_target"
      ? advice.refusedAudience(withoutSecrets(audience, secrets))
      : undefined
    return new ServerError({
      ...hinted(credentials, { status }, audienceHint),
      ...fields,
      ...(wait !== undefined && { retryAfter: Duration.millis(wait) })
    })
  }

  /** What a response means, first by its status and then by its body. */
  const classify = Effect.fnUntraced(function*(
    response: ServerResponse,
    credentials: ClientCredentials,
    requestedAt: DateTime.Utc,
    tookMillis: number
  ): Effect.fn.Return<AccessToken, TokenError> {
    const { chunks, fault, status } = response
    const nowMillis = DateTime.toEpochMillis(requestedAt) + tookMillis
    const broken = (rule: ResponseRule) =>
      new InvalidResponse({ ...whereOf(credentials), endpointStatus: status, rule })
    // no authorization server sends a 407: a proxy on the way requires its own credentials
    if (status === 407) return yield* noResponse(credentials, { reason: "Proxy", proxyStatus: status })
    const json = fault === undefined ? parseObject(chunks) : {}
    if (status >= 400) {
      return yield* failureOf(response, Predicate.isString(json) ? {} : json, credentials, nowMillis)
    }
    if (status !== 200) return yield* broken(status >= 300 && status !== 304 ? "Redirect" : "Status")
    if (fault !== undefined) {
      return yield* Predicate.isString(fault)
        ? broken(fault)
        : yield* noResponse(credentials, fault)
    }
    if (Predicate.isString(json)) return yield* broken(json)
    if (textOf(json["error"]) !== undefined) return yield* failureOf(response, json, credentials, nowMillis)
    const granted = decode(json)
    if (Predicate.isString(granted)) return yield* broken(granted)
    const { accessToken, expiresInSeconds, scope } = granted
    const token = new AccessToken({
      secret: accessToken,
      scopes: scope === undefined ? scopes ?? [] : scope.split(" ").filter((name) => name !== ""),
      requestedAt,
      expiresAt: DateTime.addDuration(
        requestedAt,
        expiresInSeconds === undefined ? unknownLifetime : usableFor(expiresInSeconds)
      ),
      ...(scopes === undefined && { covered: validation.allScopes })
    })
    if (DateTime.toEpochMillis(token.expiresAt) <= nowMillis) return yield* broken("Expired")
    if (expiresInSeconds === undefined) {
      yield* noLifetime(`${tokenEndpoint} (${clientOf(environment.name, credentials.clientId)})`, unknownLifetime)
    }
    return token
  })

  return Effect.fnUntraced(function*(credentials, time) {
    // before sending, so that the calculated expiry is never later than the real one
    const requestedAt = yield* DateTime.now
    const [took, response] = yield* send(options, credentials).pipe(
      within(time, (): TransportFailure => ({ reason: "Timeout", deadline: time })),
      Effect.mapError((failure) => noResponse(credentials, failure)),
      Effect.timed
    )
    yield* Effect.annotateCurrentSpan("http.response.status_code", response.status)
    return yield* classify(response, credentials, requestedAt, Duration.toMillis(took))
  })
}
