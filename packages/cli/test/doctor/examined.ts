import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Agent, type Dispatcher, EnvHttpProxyAgent } from "@effect/platform-node/Undici"
import { Chunk, Effect, Layer, Logger, Option, Stream } from "effect"
import { examine, type Step } from "../../src/doctor/doctor.ts"

// Without vitest, because a child process imports this file too.

/** A step without its time, and with plain text in place of an Option. */
export interface Line {
  readonly name: string
  readonly result: Step["result"]
  readonly detail: string
  readonly advice: string
}

export type Options = Parameters<typeof examine>[0]

export const examined = (options: Options) =>
  Stream.runCollect(examine(options)).pipe(
    Effect.map((steps) =>
      Chunk.toReadonlyArray(steps).map(({ advice, detail, name, result }): Line => ({
        name,
        result,
        detail,
        advice: Option.getOrElse(advice, () => "")
      }))
    ),
    Effect.provide(Logger.remove(Logger.defaultLogger))
  )

/** The client of the command. It reads the variables of forward proxies when it is built. */
export const Client = NodeHttpClient.layerUndiciWithoutDispatcher.pipe(
  Layer.provide(Layer.scoped(
    NodeHttpClient.Dispatcher,
    Effect.acquireRelease(
      // the agent cannot be built from a malformed variable, which the examination is to report
      Effect.orElse(Effect.try((): Dispatcher => new EnvHttpProxyAgent()), () => Effect.sync(() => new Agent())),
      (agent) => Effect.promise(() => agent.close())
    )
  ))
)
