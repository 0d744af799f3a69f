import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import type * as Duration from "effect/Duration"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Received from "../Received.ts"

const decodeJson = Schema.decodeUnknownOption(Schema.parseJson(Schema.Unknown))

/** How registered error codes look (RFC 6749, section 11.4). Other text could be anything, also a secret. */
const code = /^[a-z_]{1,40}$/

/** Longer bodies are no OAuth errors. */
const longestError = 10_000

/** The OAuth error code in a response. */
const errorOf = ({ body }: HttpServerResponse.HttpServerResponse): Option.Option<string> => {
  const bytes = body._tag === "Uint8Array" ? body.body : body._tag === "Raw" ? body.body : undefined
  const text = bytes instanceof Uint8Array ? new TextDecoder().decode(bytes.subarray(0, longestError)) : bytes
  return typeof text !== "string" || text.length > longestError
    ? Option.none()
    : Option.flatMap(
      decodeJson(text),
      (json) =>
        Predicate.hasProperty(json, "error") && typeof json.error === "string" && code.test(json.error)
          ? Option.some(json.error)
          : Option.none()
    )
}

/** The outcome of a request whose handler ended after this time. */
export const make = (
  exit: Exit.Exit<HttpServerResponse.HttpServerResponse>,
  duration: Duration.Duration
): Received.Outcome =>
  Exit.isSuccess(exit)
    ? Received.Responded({ status: exit.value.status, error: errorOf(exit.value), duration })
    : Received.NoResponse({ duration })
