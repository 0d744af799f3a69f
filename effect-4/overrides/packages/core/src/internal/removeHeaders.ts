import * as HttpClientRequest from "effect/http/HttpClientRequest"

/** The request without these headers. */
export const removeHeaders = (
  request: HttpClientRequest.HttpClientRequest,
  names: ReadonlySet<string>
): HttpClientRequest.HttpClientRequest =>
  Array.from(names).reduce((current, name) => HttpClientRequest.removeHeader(current, name), request)
