import { run as runProcess, script } from "@credit-data/test-support/childProcess"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"

// The examples must not use the developer's own variables.
for (const name of Object.keys(process.env).filter((name) => name.startsWith("CREDIT_DATA_"))) delete process.env[name]

export const folder = fileURLToPath(new URL("../src/", import.meta.url))

/** Runs an example as a child process until it exits, and returns its output. */
export const run = (file: string, variables: Record<string, string> = {}) =>
  Effect.timeout(runProcess(script(`${folder}${file}`), { cwd: folder, env: variables }), "25 seconds")

export const sunset = /WARN .*Auth V1 was retired/

/** Fails if the text lacks one of these parts, or has them in another order. */
export const assertInOrder = (text: string, parts: ReadonlyArray<string | RegExp>) => {
  let rest = text
  for (const part of parts) {
    const at = typeof part === "string" ? rest.indexOf(part) : rest.search(part)
    assert.isAtLeast(at, 0, `${part} in:\n${rest}`)
    rest = rest.slice(at + 1)
  }
}
