import * as HttpHeaders from "@effect/platform/Headers"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { sumAll } from "effect/Number"
import * as Random from "effect/Random"
import type * as Fault from "../Fault.ts"
import type { Received } from "../Received.ts"
import * as connection from "./connection.ts"

/** What a server does with a request. */
export type Handler = (
  request: HttpServerRequest.HttpServerRequest,
  received: Received,
  /** The whole body, of which `received` has the beginning. */
  body: Uint8Array
) => Effect.Effect<HttpServerResponse.HttpServerResponse>

/** The time of a delay. A sum of twelve random numbers is close to a normal distribution with the standard deviation 1. */
const delayOf = ({ duration, sigma = 0 }: Extract<Fault.Fault, { readonly _tag: "Delay" }>) =>
  Effect.map(
    Effect.replicateEffect(Random.next, sigma === 0 ? 0 : 12),
    (numbers) => Duration.millis(Duration.toMillis(duration) * Math.exp(sigma * (sumAll(numbers) - numbers.length / 2)))
  )

/** The usual handler with a fault. */
export const faulty = (fault: Fault.Fault, usual: Handler): Handler => (request, received, body) => {
  switch (fault._tag) {
    case "Response":
      return Effect.succeed(
        HttpServerResponse.raw(fault.body ?? "", {
          status: fault.status,
          headers: HttpHeaders.fromInput(fault.headers)
        })
      )
    case "Delay":
      // the usual response is made at the end of the delay: a token may be revoked meanwhile
      return Effect.flatMap(
        delayOf(fault),
        (duration) => Effect.delay(Effect.suspend(() => usual(request, received, body)), duration)
      )
    case "Silence":
      return Effect.never
    case "Reset":
      return connection.reset(request)
    case "Bytes":
      return connection.bytes(request, fault)
    case "Drip":
      return connection.drip(request, fault)
    case "Endless":
      return connection.endless(request, fault)
  }
}
