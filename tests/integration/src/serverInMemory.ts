import type { Fault } from "@credit-data/simulator"
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { Effect, Layer, Redacted, Ref } from "effect"
import { canary, tokenPrefix } from "./canaries.ts"
import type { TokenServer } from "./faultRow.ts"

/** A token response that follows the contract, with a token of this number. */
export const granted = (number: number) => ({
  access_token: `${tokenPrefix}2.${number}`,
  scope: "data-access:all",
  expires_in: 86_400,
  token_type: "Bearer"
})

/** An authorization server in memory, and the transport to it. It supports only faults of the kind `Response`. */
export const makeServerInMemory = Effect.gen(function*() {
  const faults = yield* Ref.make<ReadonlyArray<Fault.Fault>>([])
  const count = yield* Ref.make(0)
  const server: TokenServer = {
    environment: {
      name: "in memory",
      audience: "https://api.example",
      baseUrl: "https://api.example",
      authV1Url: "https://v1.example",
      authV2Url: "https://v2.example"
    },
    credentials: Effect.succeed({ clientId: "id", clientSecret: Redacted.make(canary) }),
    failTokenRequests: (fault, options) =>
      Ref.update(faults, (all) => [...all, ...Array.from({ length: options?.times ?? 1 }, () => fault)]),
    tokenRequests: Ref.get(count)
  }
  const client = HttpClient.make((request) =>
    Effect.gen(function*() {
      const number = yield* Ref.updateAndGet(count, (count) => count + 1)
      const fault = yield* Ref.modify(faults, ([first, ...others]) => [first, others])
      return HttpClientResponse.fromWeb(
        request,
        fault?._tag === "Response"
          ? new Response(
            typeof fault.body === "string" || fault.body === undefined ? fault.body : new Uint8Array(fault.body),
            { status: fault.status, headers: { ...fault.headers } }
          )
          : Response.json(granted(number))
      )
    })
  )
  return { server, transport: Layer.succeed(HttpClient.HttpClient, client) }
})
