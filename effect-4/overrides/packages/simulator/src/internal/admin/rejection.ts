import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as HttpApiError from "effect/http-api/HttpApiError"
import * as SchemaIssue from "effect/SchemaIssue"

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** The part of a message that comes from the Schema. The rest quotes the value. */
const expectation = (message: string) =>
  message === "Missing key"
    ? "is missing"
    : /^(Expected .*?)(?:, (?:got|actual) .*)?$/s.exec(message)?.[1] ?? "is not valid"

const issuesOf = (error: unknown) =>
  HttpApiError.HttpApiSchemaError.is(error)
    ? format(error.cause.issue).issues.map(({ message, path = [] }) => ({ path, message: expectation(message) }))
    : [{ path: [], message: "The body is not JSON" }]

/** A rejection names the wrong field. Its value can be a secret, so it does not quote that. */
export const rejection = (error: unknown): HttpServerResponse.HttpServerResponse => {
  const issues = issuesOf(error).map((issue) => ({ ...issue, _tag: "Type" }))
  const message = issues.map(({ message, path }) =>
    path.length === 0 ? message : `${path.map(String).join(".")}: ${message}`
  ).join("; ")
  return HttpServerResponse.jsonUnsafe({ _tag: "HttpApiDecodeError", issues, message }, { status: 400 })
}
