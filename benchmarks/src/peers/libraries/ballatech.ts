import { FetchHttpClient } from "@effect/platform"
import { Effect, ManagedRuntime } from "effect"
import { clientId, clientSecret, type Make, type MakeCalls } from "../peer.ts"
import * as rebuilt from "./rebuilt.ts"

export const make: Make = async (base) => {
  const runtime = ManagedRuntime.make(FetchHttpClient.layer)
  const { token } = await runtime.runPromise(rebuilt.make(`${base}/oauth2/token`, clientId, clientSecret))
  return { get: () => runtime.runPromise(token), dispose: () => runtime.dispose() }
}

export const makeCalls: MakeCalls = async (url, path, base) => {
  const runtime = ManagedRuntime.make(FetchHttpClient.layer)
  const { client } = await runtime.runPromise(rebuilt.make(`${base}/oauth2/token`, clientId, clientSecret))
  const status = Effect.flatMap(client.get(url + path), ({ status, text }) => Effect.as(text, status))
  const call = Effect.catchTag(status, "Unauthorized", () => Effect.succeed(401))
  return { call: () => runtime.runPromise(call), dispose: () => runtime.dispose() }
}
