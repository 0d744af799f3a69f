import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { shown } from "./exchanges.ts"
import type { Failure } from "./failure.ts"

const proxyVariables = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"]

interface Options {
  readonly verbose: boolean
}

const over = <E>(transport: Effect.Effect<Layer.Layer<HttpClient.HttpClient, E>>, { verbose }: Options) => {
  const layer = Layer.unwrapEffect(transport)
  return verbose
    ? Layer.provide(Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, shown)), layer)
    : layer
}

// undici is half of the program, and `fetch` cannot send through a proxy
const undici = Effect.promise(() => import("./undici.ts"))

/** The transport of all commands but `doctor`. */
export const layer = (options: Options): Layer.Layer<HttpClient.HttpClient, Failure> =>
  over(
    Effect.suspend(() =>
      proxyVariables.some((name) => (process.env[name] ?? "") !== "")
        ? Effect.map(undici, ({ layer }) => layer)
        : Effect.succeed(FetchHttpClient.layer)
    ),
    options
  )

/** The transport of `doctor`. */
export const layerOfDoctor = (options: Options): Layer.Layer<HttpClient.HttpClient> =>
  over(Effect.map(undici, ({ layerOfDoctor }) => layerOfDoctor), options)
