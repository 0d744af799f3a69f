import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as AdminApi from "./AdminApi.ts"
import type * as Received from "../../Received.ts"
import type * as Simulator from "../../Simulator.ts"
import { limit } from "../body.ts"
import * as views from "./views.ts"

const headersOf = (all: Readonly<Record<string, string>>) => Object.entries(all).map((header) => header.join(": "))

/** The texts that people can see of a request. */
const textsOf = (
  { body, error, fault, headers, method, response, status, url }: typeof AdminApi.RequestDetail.Type
) => [
  `${method} ${url} ${status ?? ""} ${error ?? ""} ${fault ?? ""}`,
  ...headersOf(headers),
  ...headersOf(response?.headers ?? {}),
  body.text,
  response?.body.text ?? ""
]

/** The bodies of a request and its response, as far as the journal has them, with their sizes. */
const bodiesOf = ({ body, bodySize, outcome }: Received.Received) =>
  [{ body, bodySize }, ...outcome._tag === "Responded" ? [outcome] : []]
    .map(({ body, bodySize }) => ({ bytes: Redacted.value(body), bodySize }))

/**
 * Searches for the requests in which people can see a text, in capitals or not. The texts are not kept: a second copy of all bodies in
 * memory takes longer to collect than to make again.
 */
export const search = (simulator: Simulator.Service, text: string): Effect.Effect<typeof AdminApi.Found.Type> => {
  // to change the case of long texts takes longer
  const wanted = new RegExp(text.replace(/[^\w\s]/g, "\\$&"), "i")
  /** Whether people could see the text in the bodies of a call. To mask them takes longer. A mask can itself be what is searched for. */
  const canHave = (received: Received.Received) =>
    received.server !== "Api" || text.includes("*") ||
    bodiesOf(received).some(({ bytes }) => wanted.test(new TextDecoder().decode(bytes)))
  return Effect.gen(function*() {
    const all = yield* simulator.received
    const found = yield* Effect.filter(all, (received) =>
      // many long bodies must not block the simulator's servers
      Effect.yieldNow().pipe(
        Effect.zipRight(
          Effect.suspend(() => views.detail(simulator, canHave(received) ? received : limit.lighten(received)))
        ),
        Effect.map((detail) => textsOf(detail).some((text) => wanted.test(text)))
      ))
    return {
      requests: yield* Effect.forEach(found, (received) => views.request(simulator, received)),
      searchable: all.filter((received) =>
        bodiesOf(received).every(({ bodySize, bytes }) =>
          bytes.byteLength > 0 || bodySize === 0
        )
      ).length,
      total: all.length
    }
  })
}
