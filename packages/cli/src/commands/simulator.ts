import * as NodeContext from "@effect/platform-node/NodeContext"
import * as Effect from "effect/Effect"
import type { Invocation } from "../commandLine/commands.ts"
import { wrongUsage } from "../failure.ts"

export const simulator = ({ options }: Invocation<"simulator">) =>
  Effect.promise(() => import("@credit-data/simulator/Internal")).pipe(
    Effect.flatMap(({ Standalone }) =>
      Standalone.run({ ...options, tokenLifetime: options["token-lifetime"], writeEnv: options["write-env"] })
    ),
    Effect.mapError(({ message }) => wrongUsage(message)),
    Effect.provide(NodeContext.layer)
  )
