import { Data, Effect } from "effect"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import type { Measurement } from "./report.ts"

const root = fileURLToPath(new URL("../../", import.meta.url))

class NotMeasured extends Data.TaggedError("NotMeasured")<{ readonly message: string }> {}

/** What a program of the fleet's tests prints. They have real processes and a real Redis. */
export const fleetProgram = (
  name: "measure" | "processes",
  ...options: ReadonlyArray<number>
): Effect.Effect<string, NotMeasured> =>
  Effect.async((resume) => {
    const child = execFile(
      process.execPath,
      ["--import", "tsx", `tests/fleet/src/${name}.ts`, ...options.map(String)],
      { cwd: root, maxBuffer: 1e7 },
      (error, stdout, stderr) =>
        resume(
          error === null
            ? Effect.succeed(stdout.trim())
            : Effect.fail(new NotMeasured({ message: `${error.message}\n${stderr}` }))
        )
    )
    return Effect.sync(() => child.kill())
  })

/** Fleets of up to 200 real processes, with a real Redis. */
export const fleet: Effect.Effect<ReadonlyArray<Measurement>, NotMeasured> = Effect.map(
  fleetProgram("measure"),
  (output) => output.split("\n").map((line): Measurement => JSON.parse(line))
)
