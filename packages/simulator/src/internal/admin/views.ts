import * as HttpHeaders from "@effect/platform/Headers"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import type * as AdminApi from "../../AdminApi.ts"
import type * as Fault from "../../Fault.ts"
import type * as IssuedToken from "../../IssuedToken.ts"
import type * as Received from "../../Received.ts"
import type * as Simulator from "../../Simulator.ts"

const hidden = "***"

const privateHeader = /auth|cookie|secret|token|key/i

/** The fields of a token request whose values may be seen. */
const publicFields: ReadonlyArray<string> = ["client_id", "audience", "scope", "grant_type"]

/** A body that is no form would else be shown as the name of a field, with any secret in it. */
const isFieldName = (name: string) => /^[a-z_]{1,40}$/.test(name)

/** Longer bodies are shown by their size. */
const longestBody = 10_000

const bodyOf = ({ body, server }: Received.Received, mask: (text: string) => string) => {
  const bytes = Redacted.value(body)
  if (bytes.byteLength > longestBody) return `(${bytes.byteLength} bytes)`
  const text = new TextDecoder().decode(bytes)
  if (server === "Api") return mask(text)
  const fields = [...new URLSearchParams(text)]
    .map(([name, value]) => `${isFieldName(name) ? name : hidden}=${publicFields.includes(name) ? value : hidden}`)
  return mask(fields.join("\n"))
}

const ended = (outcome: Received.Outcome) => outcome._tag === "Pending" ? null : Duration.toMillis(outcome.duration)

/** A request as the admin API shows it. */
export const request = (
  received: Received.Received,
  mask: (text: string) => string
): typeof AdminApi.Request.Type => {
  const { fault, headers, id, method, outcome, receivedAt, server, token, url } = received
  return {
    id,
    server,
    receivedAt,
    method,
    url: mask(url),
    headers: Object.fromEntries(
      Object.entries(HttpHeaders.fromInput(headers))
        .map(([name, value]) => [mask(name), privateHeader.test(name) ? hidden : mask(value)])
    ),
    body: bodyOf(received, mask),
    token: Option.getOrNull(token),
    fault: Option.getOrNull(fault),
    status: outcome._tag === "Answered" ? outcome.status : null,
    error: outcome._tag === "Answered" ? Option.getOrNull(Option.map(outcome.error, mask)) : null,
    milliseconds: ended(outcome)
  }
}

/** A token as the admin API shows it: it has no secret. */
export const token = (issued: IssuedToken.IssuedToken): typeof AdminApi.Token.Type => issued

const textOf = (bytes: string | Uint8Array) => typeof bytes === "string" ? bytes : new TextDecoder().decode(bytes)

const millis = (duration: Duration.DurationInput) => Duration.toMillis(Duration.decode(duration))

const faultOf = (fault: Fault.Fault, mask: (text: string) => string): typeof AdminApi.Fault.Type => {
  switch (fault._tag) {
    case "Answer":
      return {
        ...fault,
        headers: fault.headers && Record.map(fault.headers, mask),
        body: fault.body === undefined ? undefined : mask(textOf(fault.body))
      }
    case "Delay":
      return { ...fault, duration: millis(fault.duration) }
    case "Drip":
      return { ...fault, bytes: mask(textOf(fault.bytes)), every: millis(fault.every) }
    case "Bytes":
      return { ...fault, bytes: mask(textOf(fault.bytes)) }
    case "Endless":
      return { ...fault, bytes: mask(textOf(fault.bytes)) }
    case "Reset":
    case "Silence":
      return fault
  }
}

/** The settings and counters as the admin API shows them. */
export const state = (simulator: Simulator.Service): Effect.Effect<typeof AdminApi.State.Type> =>
  Effect.gen(function*() {
    const { clientId } = yield* simulator.credentials
    return {
      environment: simulator.environment,
      clientId,
      grantedScopes: yield* simulator.grantedScopes,
      now: yield* simulator.now,
      advanced: Duration.toMillis(yield* simulator.advanced),
      tokenRequests: yield* simulator.tokenRequests,
      calls: yield* simulator.calls,
      openConnections: yield* simulator.openConnections,
      faults: (yield* simulator.faults).map((pending) => ({
        ...pending,
        fault: faultOf(pending.fault, simulator.mask),
        remaining: Number.isFinite(pending.remaining) ? pending.remaining : "unlimited" as const
      })),
      fixtures: (yield* simulator.fixtures).map(({ method, path, status }) => ({
        method,
        path: simulator.mask(path),
        status
      }))
    }
  })
