import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import type * as Duration from "effect/Duration"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Received from "../Received.ts"
import { beginning } from "./body.ts"

const decodeJson = Schema.decodeUnknownOption(Schema.parseJson(Schema.Unknown))

/** How registered error codes look (RFC 6749, section 11.4). Other text could be anything, also a secret. */
const code = /^[a-z_]{1,40}$/

/** Longer bodies are no OAuth errors. */
const longestError = 10_000

const none = new Uint8Array()

/** The bytes of a body, unless it is a stream. */
const bytesOf = ({ body }: HttpServerResponse.HttpServerResponse): Uint8Array => {
  const bytes = body._tag === "Uint8Array" || body._tag === "Raw" ? body.body : none
  return bytes instanceof Uint8Array ? bytes : typeof bytes === "string" ? new TextEncoder().encode(bytes) : none
}

/** The OAuth error code in a response. */
const errorOf = (bytes: Uint8Array): Option.Option<string> =>
  bytes.byteLength > longestError ? Option.none() : Option.flatMap(
    decodeJson(new TextDecoder().decode(bytes)),
    (json) =>
      Predicate.hasProperty(json, "error") && typeof json.error === "string" && code.test(json.error)
        ? Option.some(json.error)
        : Option.none()
  )

/** The outcome of a request whose handler ended after this time. */
export const make = (
  exit: Exit.Exit<HttpServerResponse.HttpServerResponse>,
  duration: Duration.Duration,
  method: string
): Received.Outcome => {
  if (!Exit.isSuccess(exit)) return Received.NoResponse({ duration })
  const { headers, status } = exit.value
  const bytes = bytesOf(exit.value)
  // the response to HEAD has the headers of a body, and no body
  const sent = method === "HEAD" ? none : bytes
  return Received.Responded({
    status,
    error: errorOf(bytes),
    headers: Redacted.make(headers),
    body: Redacted.make(beginning(sent)),
    bodySize: sent.byteLength,
    duration
  })
}
