import { InvalidClient, isRetryable, ServerError } from "@credit-data/promise"
import { Fault } from "@credit-data/simulator"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { connected, rejection } from "./support/connection.ts"

const endpoint = { environment: "test", tokenEndpoint: "http://localhost" }
const refused = new InvalidClient("refused", { ...endpoint, endpointStatus: 401, retryable: false })
const unavailable = new ServerError("unavailable", { ...endpoint, endpointStatus: 503, retryable: true })

describe("isRetryable", () => {
  it.effect("follows the failure of a token request", () =>
    Effect.sync(() => {
      assert.isFalse(isRetryable(refused))
      assert.isTrue(isRetryable(unavailable))
    }))

  it.effect("follows the cause of an error of another library", () =>
    Effect.sync(() => {
      const wrapped = (cause: unknown) => new Error("Network Error", { cause })
      assert.isTrue(isRetryable(wrapped(unavailable)))
      assert.isFalse(isRetryable(wrapped(refused)))
      assert.isFalse(isRetryable(wrapped(undefined)))
      assert.isTrue(isRetryable(Object.assign(new Error("timeout of 5 ms exceeded"), { code: "ECONNABORTED" })))
      assert.isTrue(isRetryable(wrapped(Object.assign(new Error("too late"), { name: "TimeoutError" }))))
    }))

  it.live("is true for a call that got no response", () =>
    connected(async ({ api, run, simulator }) => {
      await run(simulator.failCalls(Fault.Reset(), { times: 4 }))
      assert.isTrue(isRetryable(await rejection(api.dataAccess("/data-access/consumers/42"))))
    }))

  it.live("is true for a body that breaks off", () =>
    connected(async ({ api, run, simulator }) => {
      const bytes = Fault.responseBytes({ headers: ["Content-Length: 1000"], body: "{}" })
      await run(simulator.failCalls(Fault.Bytes({ bytes, ending: "End" })))
      const response = await api.dataAccess("/data-access/consumers/42")
      assert.isTrue(isRetryable(await rejection(response.text())))
    }))

  it.live("is true after a timeout, and false after another abort", () =>
    connected(async ({ api, run, simulator }) => {
      await run(simulator.failCalls(Fault.Silence(), { times: 2 }))
      const call = (signal: AbortSignal) => rejection(api.dataAccess("/data-access/consumers/42", { signal }))
      assert.isTrue(isRetryable(await call(AbortSignal.timeout(50))))
      assert.isFalse(isRetryable(await call(AbortSignal.abort())))
    }))

  it.live("is false for a body that is no JSON, for a path that is refused, and for any other error", () =>
    connected(async ({ api, run, simulator }) => {
      await run(simulator.failCalls(Fault.Response({ status: 200, body: "no JSON" })))
      const response = await api.dataAccess("/data-access/consumers/42")
      assert.isFalse(isRetryable(await rejection(response.json())))
      assert.isFalse(isRetryable(await rejection(api.dataAccess("https://other.example/"))))
      assert.isFalse(isRetryable(new TypeError()))
      assert.isFalse(isRetryable(undefined))
    }))

  it.live("is false for a scope that was not granted", () =>
    connected(async ({ api, run, simulator }) => {
      await run(simulator.grantScopes(["furnishment:all"]))
      const error = await rejection(api.dataAccess("/data-access/consumers/42"))
      assert.include(String(error), "data-access:all")
      assert.isFalse(isRetryable(error))
    }))
})
