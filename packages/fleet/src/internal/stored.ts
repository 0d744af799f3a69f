import type { AccessToken } from "@credit-data/core/AccessToken"
import * as TokenEndpoint from "@credit-data/core/TokenEndpoint"
import * as Variables from "@credit-data/core/Variables"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { TokenStore } from "../TokenStore.ts"
import * as Envelope from "./envelope.ts"

/** The parts of a shared supply, and the entry of the present credentials. */
export const parts = Effect.gen(function*() {
  const endpoint = yield* TokenEndpoint.TokenEndpoint
  const store = yield* TokenStore
  const { credentials } = endpoint
  if (credentials === undefined) {
    return yield* Effect.fail(Variables.invalid(
      ["TokenEndpoint", "credentials"],
      "Expected an endpoint with credentials, under which the shared tokens are encrypted"
    ))
  }
  const entry = Effect.flatMap(credentials.current, (current) => Envelope.entryOf(endpoint, current))
  return { credentials, endpoint, entry, present: yield* entry, store }
})

/** What a store contains for a token endpoint and its present credentials, for `credit-data status`. */
export interface Stored {
  /** The shared token, if it has not expired. */
  readonly token: Option.Option<AccessToken>
  /** The shared failure, and the time until which the processes of the fleet share it. */
  readonly failure: Option.Option<{ readonly error: Envelope.SharedFailure; readonly until: DateTime.Utc }>
}

/** Reads what the store contains. Sends no token request, takes no lease and writes nothing. */
export const read = Effect.gen(function*() {
  const { present, store } = yield* parts
  const wall = yield* DateTime.now
  const look = yield* store.read(present.name)
  const content = Option.getOrElse(Envelope.opened(present, look), () => ({}))
  return {
    token: Option.fromNullable(Envelope.tokenOf(content, look.now, wall)),
    failure: Option.fromNullable(Envelope.failureOf(content, look.now, wall))
  } satisfies Stored
})
