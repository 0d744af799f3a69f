import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Option from "effect/Option"

/** The request without these headers. The platform has no function that removes one, so this is a new request. */
export const removeHeaders = (
  { body, hash, headers, method, url, urlParams }: HttpClientRequest.HttpClientRequest,
  names: ReadonlySet<string>
): HttpClientRequest.HttpClientRequest => {
  const request = HttpClientRequest.get(url).pipe(
    HttpClientRequest.setMethod(method),
    HttpClientRequest.setUrlParams(urlParams),
    HttpClientRequest.setBody(body),
    HttpClientRequest.setHeaders(Object.entries(headers).filter(([name]) => !names.has(name)))
  )
  return Option.isSome(hash) ? HttpClientRequest.setHash(request, hash.value) : request
}
