import { Validation } from "@credit-data/core/Internal"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Agent, type Dispatcher, EnvHttpProxyAgent } from "@effect/platform-node/Undici"
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type Failure, wrongUsage } from "./failure.ts"

/** undici's error contains the whole address, with the proxy's password. */
const malformed = () =>
  wrongUsage(
    "HTTPS_PROXY or HTTP_PROXY is malformed. Expected http://HOST:PORT or http://USER:PASSWORD@HOST:PORT, with special " +
      "characters percent-encoded. Nothing was sent."
  )

/** Never sends to a loopback address through the proxy. */
const withoutLoopback = (proxied: Dispatcher): Dispatcher => {
  const direct = new Agent()
  return proxied.compose((dispatch) => (options, handler) =>
    options.origin !== undefined && Validation.isLoopback(new URL(options.origin).hostname)
      ? direct.dispatch(options, handler)
      : dispatch(options, handler)
  )
}

const proxied: Effect.Effect<Dispatcher, Failure> = Effect.try({
  try: () => withoutLoopback(new EnvHttpProxyAgent()),
  catch: malformed
})

const over = <E>(dispatcher: Effect.Effect<Dispatcher, E>): Layer.Layer<HttpClient.HttpClient, E> =>
  NodeHttpClient.layerUndiciWithoutDispatcher.pipe(
    Layer.provide(Layer.scoped(
      NodeHttpClient.Dispatcher,
      Effect.acquireRelease(dispatcher, (agent) => Effect.promise(() => agent.destroy()))
    ))
  )

/** undici, with the forward proxy of the variables `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`. */
export const layer = over(proxied)

/** undici for `doctor`, which reports a malformed variable itself, and then sends nothing. */
export const layerOfDoctor = over(Effect.orElse(proxied, () => Effect.sync((): Dispatcher => new Agent())))
