import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import type * as Fixture from "../Fixture.ts"

const segments = (path: string) => path.split("/")

const isPlaceholder = (segment: string) => /^\{[^{}]*\}$/.test(segment)

const decoded = (segment: string) => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

const matches = (template: string, path: ReadonlyArray<string>) => {
  const expected = segments(template)
  return expected.length === path.length &&
    expected.every((segment, index) => isPlaceholder(segment) || segment === decoded(path[index] ?? ""))
}

/** A fixture is the more exact, the fewer placeholders its path has. */
const placeholders = ({ path }: Fixture.Fixture) => segments(path).filter(isPlaceholder).length

const isJson = (contentType: string) => /[/+]json\b/i.test(contentType)

const response = ({ body, headers, status }: Fixture.Fixture) => {
  const contentType = Object.entries(headers).find(([name]) => name.toLowerCase() === "content-type")?.[1] ??
    "application/json"
  const text = typeof body === "string" && !isJson(contentType) ? body : JSON.stringify(body ?? null)
  // no body may follow these
  return status === 204 || status === 304
    ? HttpServerResponse.empty({ status, headers })
    : HttpServerResponse.text(text, { status, headers, contentType })
}

/** The answer of the most exact fixture, the first one of several. */
export const answer = (
  fixtures: ReadonlyArray<Fixture.Fixture>,
  call: { readonly method: string; readonly path: string }
): HttpServerResponse.HttpServerResponse => {
  const path = segments(call.path)
  const found = fixtures.filter((fixture) => matches(fixture.path, path))
  const [best] = found
    .filter(({ method }) => method === call.method || (method === "GET" && call.method === "HEAD"))
    .sort((left, right) => placeholders(left) - placeholders(right))
  if (best !== undefined) return response(best)
  return found.length === 0
    ? HttpServerResponse.unsafeJson({ error: "not_found" }, { status: 404 })
    : HttpServerResponse.unsafeJson({ error: "method_not_allowed" }, {
      status: 405,
      headers: { allow: [...new Set(found.map(({ method }) => method))].join(", ") }
    })
}
