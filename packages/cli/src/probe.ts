import type * as Comparison from "./comparison.ts"
import * as Effect from "effect/Effect"
import { type Failure, wrongUsage } from "./failure.ts"

const methods = ["GET", "HEAD", "OPTIONS"] as const

/** A safe request, from `--probe PATH` or `--probe 'METHOD PATH'`. */
export const parseProbe = (text: string): Effect.Effect<Comparison.Probe, Failure> => {
  const [, name = "GET", path] = /^(?:([A-Z]+) )?(\/\S*)$/.exec(text) ?? []
  const method = methods.find((each) => each === name)
  return method === undefined || path === undefined
    ? wrongUsage("--probe does not accept this value. Expected /path, or 'GET /path' with GET, HEAD or OPTIONS.")
    : Effect.succeed({ method, path })
}
