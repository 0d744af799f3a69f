import type * as HttpClient from "@effect/platform/HttpClient"
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Failure } from "./failure.ts"

const proxyVariables = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"]

// undici is half of the program, and `fetch` cannot send through a proxy
const undici = Effect.promise(() => import("./undici.ts"))

/** The transport of all commands but `doctor`. */
export const layer: Layer.Layer<HttpClient.HttpClient, Failure> = Layer.unwrapEffect(
  Effect.suspend(() =>
    proxyVariables.some((name) => (process.env[name] ?? "") !== "")
      ? Effect.map(undici, ({ layer }) => layer)
      : Effect.succeed(FetchHttpClient.layer)
  )
)

/** The transport of `doctor`. */
export const layerOfDoctor: Layer.Layer<HttpClient.HttpClient> = Layer.unwrapEffect(
  Effect.map(undici, ({ layerOfDoctor }) => layerOfDoctor)
)
