import type * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Failure } from "./exitCode.ts"

// undici is half of the bundle, and `--help` does not wait for it
const undici = Effect.promise(() => import("./undici.ts"))

/** The transport of all commands. */
export const layer: Layer.Layer<HttpClient.HttpClient, Failure> = Layer.unwrapEffect(
  Effect.map(undici, ({ layer }) => layer)
)

/** The transport of `doctor`. */
export const layerOfDoctor: Layer.Layer<HttpClient.HttpClient> = Layer.unwrapEffect(
  Effect.map(undici, ({ layerOfDoctor }) => layerOfDoctor)
)
