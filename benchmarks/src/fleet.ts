import { Data, Effect } from "effect"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import type { Measurement } from "./report.ts"

const root = fileURLToPath(new URL("../../", import.meta.url))

class NotMeasured extends Data.TaggedError("NotMeasured")<{ readonly message: string }> {}

/** Fleets of up to 200 real processes, with a real Redis. They are measured by a program of the tests. */
export const fleet: Effect.Effect<ReadonlyArray<Measurement>, NotMeasured> = Effect.async((resume) => {
  const child = execFile(
    process.execPath,
    ["--import", "tsx", "tests/fleet/src/measure.ts"],
    { cwd: root, maxBuffer: 1e7 },
    (error, stdout, stderr) =>
      resume(
        error === null
          ? Effect.succeed(stdout.trim().split("\n").map((line): Measurement => JSON.parse(line)))
          : Effect.fail(new NotMeasured({ message: `${error.message}\n${stderr}` }))
      )
  )
  return Effect.sync(() => child.kill())
})
