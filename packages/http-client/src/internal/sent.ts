import { Transport } from "@credit-data/core/Internal"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Predicate from "effect/Predicate"
import type * as Redacted from "effect/Redacted"

/** The caller's request, and the secrets of the request that was sent for it. */
export interface Sent {
  readonly request: HttpClientRequest.HttpClientRequest
  readonly secrets: ReadonlyArray<Redacted.Redacted>
}

/** The name of the server in errors, and the variable with its address. */
export const api = { name: "the API", address: "CREDIT_DATA_BASE_URL" }

/** The description of the transport; or our own, if that one is missing or shows the token. */
export const described = ({ secrets }: Sent, description: string | undefined, ours?: () => string) => {
  const safe = Transport.foreignError(description, secrets)
  const text = Predicate.isString(safe) ? safe : ours?.()
  return text === undefined ? {} : { description: text }
}
