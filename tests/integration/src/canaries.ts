import { assert } from "@effect/vitest"
import { inspect } from "node:util"

/** Text that must never be shown: the client secret, or text of a server that must not be printed. */
export const canary = "canary-of-the-client-secret-of-40-letters"

/** The prefix of every token of the simulator. */
export const tokenPrefix = "simulated.V"

/** Fails if a value shows the secret or a token when it is printed, with everything in it. */
export const assertShowsNothing = (value: unknown): void => {
  const text = [
    inspect(value, { depth: Infinity, showHidden: true, getters: true }),
    inspect(value, { depth: Infinity, showHidden: true, customInspect: false }),
    JSON.stringify(value),
    String(value)
  ].join("\n")
  for (const secret of [canary, tokenPrefix]) assert.notInclude(text, secret)
}
