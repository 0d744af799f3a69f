import type * as ClientCredentials from "@credit-data/core/ClientCredentials"
import type * as HttpHeaders from "@effect/platform/Headers"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as Received from "../Received.ts"

// What people may see of a request and its response: neither the secrets of the simulator, nor real secrets that were sent by
// mistake to a token endpoint or in a header, or that a fault returns as a token.

/** The part of the simulator that is needed here. */
interface Service {
  readonly credentials: Effect.Effect<ClientCredentials.ClientCredentials>
  readonly mask: (text: string) => string
}

const hidden = "***"

const privateHeader = /auth|cookie|credential|jwt|key|pass|secret|session|token/i

/** The name contains "auth", but its value is a scheme with an error. */
const publicHeaders: ReadonlyArray<string> = ["www-authenticate"]

/** The fields of a token request whose values may be seen. */
const publicFields: ReadonlyArray<string> = ["audience", "scope", "grant_type"]

/** The members of a token response whose values may be seen (RFC 6749, section 5). */
const publicMembers: ReadonlyArray<string> = [
  "error",
  "error_description",
  "error_uri",
  "expires_in",
  "scope",
  "token_type"
]

/** What is no form would else be shown as the name of a field, with any secret in it. */
const isFieldName = (name: string) => /^[a-z_]{1,40}$/.test(name)

/** A secret that the end of a cut body divides is at most this long, in any of its forms. */
const longestSecret = 1024

const fields = (form: string, separator: string, clientId: string) =>
  [...new URLSearchParams(form)].map(([name, value]) => {
    const isPublic = publicFields.includes(name) || (name === "client_id" && value === clientId)
    return `${isFieldName(name) ? name : hidden}=${isPublic ? value : hidden}`
  }).join(separator)

/** The address of a request. */
export const url = (
  { credentials, mask }: Service,
  { server, url }: Received.Received
): Effect.Effect<string> =>
  Effect.map(credentials, ({ clientId }) => {
    const [path = "", ...query] = url.split("?")
    return mask(server === "Api" || query.length === 0 ? url : `${path}?${fields(query.join("?"), "&", clientId)}`)
  })

/** A body, as far as the journal has it. */
export interface Body {
  readonly text: string
  /** The size of the whole body, in bytes. */
  readonly size: number
  /** Whether the text is only its beginning. */
  readonly cut: boolean
}

const body = (
  mask: (text: string) => string,
  bytes: Redacted.Redacted<Uint8Array>,
  size: number,
  visible: (text: string) => string
): Body => {
  const kept = Redacted.value(bytes)
  const text = mask(visible(new TextDecoder().decode(kept)))
  const cut = kept.byteLength < size
  return { text: cut && text !== hidden ? text.slice(0, -longestSecret) : text, size, cut }
}

const headers = (mask: (text: string) => string, all: HttpHeaders.Headers) =>
  Object.fromEntries(
    Object.entries(all).map(([name, value]) => [
      mask(name),
      privateHeader.test(name) && !publicHeaders.includes(name) ? hidden : mask(value)
    ])
  )

const schemes: ReadonlyArray<string> = ["Basic", "Bearer", "DPoP", "Digest"]

/** The scheme of an `Authorization` header, or nothing: the first word of another header can be a secret. */
export const schemeOf = (header: Redacted.Redacted): string => {
  const text = Redacted.value(header).toLowerCase()
  return schemes.find((name) => text.startsWith(`${name.toLowerCase()} `)) ?? ""
}

/** The header without its credential. */
const authorization = (header: Option.Option<Redacted.Redacted>) =>
  Option.match(header, {
    onNone: () => ({}),
    onSome: (text) => ({ authorization: `${schemeOf(text)} ${hidden}`.trim() })
  })

const decodeMembers = Schema.decodeUnknownOption(
  Schema.parseJson(Schema.Record({ key: Schema.String, value: Schema.Unknown }))
)

/** A response of a token endpoint. What is no JSON object can be a part of a token response. */
const tokenResponse = (text: string) =>
  Option.match(decodeMembers(text), {
    onNone: () => privateHeader.test(text) ? hidden : text,
    onSome: (members) =>
      JSON.stringify(
        Object.fromEntries(
          Object.entries(members).map(([name, value]) => [
            isFieldName(name) ? name : hidden,
            publicMembers.includes(name) ? value : hidden
          ])
        )
      )
  })

/** The parts of a request that people may see. */
export interface Visible {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Body
}

/** The headers and the body of a request. */
export const request = (
  { credentials, mask }: Service,
  received: Received.Received
): Effect.Effect<Visible> =>
  Effect.map(credentials, ({ clientId }) => ({
    headers: { ...headers(mask, received.headers), ...authorization(received.authorization) },
    body: body(
      mask,
      received.body,
      received.bodySize,
      (text) => received.server === "Api" ? text : fields(text, "\n", clientId)
    )
  }))

/** The headers and the body of its response. */
export const response = (
  { mask }: Service,
  { outcome, server }: Received.Received
): Option.Option<Visible & { readonly status: number }> =>
  outcome._tag === "Responded"
    ? Option.some({
      status: outcome.status,
      headers: headers(mask, Redacted.value(outcome.headers)),
      body: body(mask, outcome.body, outcome.bodySize, (text) => server === "Api" ? text : tokenResponse(text))
    })
    : Option.none()
