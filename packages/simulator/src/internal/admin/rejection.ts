import * as HttpApiError from "@effect/platform/HttpApiError"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

const decode = Schema.decodeUnknownOption(Schema.parseJson(HttpApiError.HttpApiDecodeError))

/** The part of a message that comes from the Schema. The rest quotes the value. */
const expectation = (message: string) =>
  message === "is missing" ? message : /^(Expected .*?), actual /s.exec(message)?.[1] ?? "is not valid"

/** A rejection names the wrong field. Its value can be a secret, so it does not quote that. */
export const withoutValues = (
  response: HttpServerResponse.HttpServerResponse
): HttpServerResponse.HttpServerResponse => {
  if (response.status !== 400) return response
  const text = response.body._tag === "Uint8Array" ? new TextDecoder().decode(response.body.body) : ""
  const issues = Option.match(decode(text), {
    onNone: () => [{ _tag: "Type" as const, path: [], message: "The body is not JSON" }],
    onSome: ({ issues }) => issues.map((issue) => ({ ...issue, message: expectation(issue.message) }))
  })
  const message = issues.map(({ message, path }) =>
    path.length === 0 ? message : `${path.map(String).join(".")}: ${message}`
  ).join("; ")
  return HttpServerResponse.unsafeJson({ _tag: "HttpApiDecodeError", issues, message }, { status: 400 })
}
