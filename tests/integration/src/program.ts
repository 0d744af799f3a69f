import { Simulator } from "@credit-data/simulator"
import { bundle } from "@credit-data/test-support/bundle"
import { script, start as startProcess } from "@credit-data/test-support/childProcess"
import { Effect } from "effect"
import { readdirSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { TransportName } from "./transports.ts"

const folder = fileURLToPath(new URL("../test/programs/", import.meta.url))

// Bundling blocks this process. During a test it would also block the simulator, on a busy machine for longer than a token request may take.
for (const file of readdirSync(folder)) bundle(`${folder}${file}`)

/** Starts a test program as a child process, with the variables of the simulator. */
export const start = (file: string, transport: TransportName) =>
  Effect.flatMap(
    Simulator.variables,
    (variables) => startProcess(script(`${folder}${file}`, transport), { cwd: folder, env: variables })
  )
