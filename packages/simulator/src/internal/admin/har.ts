import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type * as AdminApi from "./AdminApi.ts"
import type * as Simulator from "../../Simulator.ts"
import * as views from "./views.ts"

const pairs = (headers: Readonly<Record<string, string>>) =>
  Object.entries(headers).map(([name, value]) => ({ name, value }))

const mimeType = (headers: Readonly<Record<string, string>>) => headers["content-type"] ?? ""

/** What the archive has of both: no cookies, because they are masked headers here. */
const message = (headers: Readonly<Record<string, string>>, bodySize: number) => ({
  httpVersion: "HTTP/1.1",
  cookies: [],
  headers: pairs(headers),
  headersSize: -1,
  bodySize
})

/** The address of a request, whose target can be an absolute URL (RFC 9112, section 3.2.2) or masked. */
const addressOf = (base: string, target: string) =>
  URL.canParse(target) ? target : `${base}${target.startsWith("/") ? "" : "/"}${target}`

const entry = (
  urls: Readonly<Record<typeof AdminApi.Request.Type["server"], string>>,
  { body, headers, id, method, milliseconds, receivedAt, response, server, url }: typeof AdminApi.RequestDetail.Type
) => ({
  startedDateTime: DateTime.formatIso(receivedAt),
  time: milliseconds ?? 0,
  request: {
    ...message(headers, body.size),
    method,
    url: addressOf(urls[server], url),
    queryString: Array.from(new URLSearchParams(url.replace(/^[^?]*/, "")), ([name, value]) => ({ name, value })),
    ...body.size === 0 ? {} : { postData: { mimeType: mimeType(headers), text: body.text } }
  },
  response: {
    ...message(response?.headers ?? {}, response?.body.size ?? -1),
    // 0 stands for a request without a response
    status: response?.status ?? 0,
    statusText: "",
    redirectURL: "",
    content: {
      size: response?.body.size ?? 0,
      mimeType: mimeType(response?.headers ?? {}),
      text: response?.body.text ?? ""
    }
  },
  cache: {},
  timings: { send: 0, wait: milliseconds ?? 0, receive: 0 },
  comment: `Request ${id}`
})

/** The journal as an HTTP archive (HAR 1.2), with what people may see. */
export const archive = (simulator: Simulator.Service): Effect.Effect<typeof AdminApi.Archive.Type> => {
  const { authV1Url, authV2Url, baseUrl } = simulator.environment
  const urls = { Api: baseUrl, AuthV1: authV1Url, AuthV2: authV2Url }
  return Effect.flatMap(simulator.received, (all) =>
    Effect.map(
      // many long bodies must not block the simulator's servers
      Effect.forEach(all, (received) => Effect.zipRight(Effect.yieldNow(), views.detail(simulator, received))),
      (details) => ({
        log: {
          version: "1.2",
          creator: { name: "@credit-data/simulator", version: "1" },
          entries: details.map((detail) => entry(urls, detail))
        }
      })
    ))
}
