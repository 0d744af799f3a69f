import {
  FetchHttpClient,
  type HttpBody,
  HttpClient,
  type HttpClientError,
  type HttpClientRequest,
  HttpClientResponse
} from "@effect/platform"
import { Effect, Layer, Option, Ref } from "effect"

export { granted } from "@credit-data/test-support/tokenResponses"

export type Outcome = Effect.Effect<Response, HttpClientError.HttpClientError>

/** A response with this JSON. */
export const json = (body: unknown, init?: ResponseInit): Outcome =>
  Effect.sync(() => new Response(JSON.stringify(body), init))

/** A response with this body, unchanged. */
export const raw = (body: BodyInit | null, init?: ResponseInit): Outcome => Effect.sync(() => new Response(body, init))

const textOf = (body: HttpBody.HttpBody) => body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : body._tag

/** A transport without a network. It returns the outcomes one after the other, and then repeats the last. */
export const make = (...outcomes: ReadonlyArray<Outcome>) =>
  Effect.gen(function*() {
    const sent = yield* Ref.make<
      ReadonlyArray<
        & Pick<HttpClientRequest.HttpClientRequest, "method" | "url" | "headers">
        & { readonly body: string; readonly init: Option.Option<RequestInit> }
      >
    >([])
    const client = HttpClient.make((request) =>
      Effect.gen(function*() {
        const { body, headers, method, url } = request
        const init = yield* Effect.serviceOption(FetchHttpClient.RequestInit)
        const before = yield* Ref.getAndUpdate(
          sent,
          (all) => [...all, { method, url, headers, body: textOf(body), init }]
        )
        const outcome = outcomes[Math.min(before.length, outcomes.length - 1)] ?? Effect.never
        return HttpClientResponse.fromWeb(request, yield* outcome)
      })
    )
    return { sent: Ref.get(sent), layer: Layer.succeed(HttpClient.HttpClient, client) }
  })
