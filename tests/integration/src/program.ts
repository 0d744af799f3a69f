import { Simulator } from "@credit-data/simulator"
import { script, start as startProcess } from "@credit-data/test-support/childProcess"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"
import type { TransportName } from "./transports.ts"

const folder = fileURLToPath(new URL("../test/programs/", import.meta.url))

/** Starts a test program as a child process, with the variables of the simulator. */
export const start = (file: string, transport: TransportName) =>
  Effect.flatMap(
    Simulator.variables,
    (variables) => startProcess(script(`${folder}${file}`, transport), { cwd: folder, env: variables })
  )
