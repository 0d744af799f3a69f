// Writes the pictures of the documentation. Those of behaviour are drawn from a run of the real code. With `--check` it writes nothing and
// exits with 1 if a picture is stale.

import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Logger, LogLevel } from "effect"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { fleet } from "./fleet.ts"
import { migration } from "./migration.ts"
import { rejectedToken } from "./rejectedToken.ts"
import { shutdown } from "./shutdown.ts"
import { tokenLife } from "./tokenLife.ts"

const folder = fileURLToPath(new URL("../../../docs/pictures/", import.meta.url))

const isCheck = process.argv.includes("--check")

Effect.gen(function*() {
  const pictures = yield* Effect.all({
    "token-life": tokenLife,
    "rejected-token": rejectedToken,
    fleet,
    shutdown: Effect.sync(shutdown),
    migration: Effect.sync(migration)
  })
  const stale = Object.entries(pictures)
    .map(([name, svg]) => ({ file: `${folder}${name}.svg`, svg }))
    .filter(({ file, svg }) => !existsSync(file) || readFileSync(file, "utf8") !== svg)
  if (isCheck && stale.length > 0) {
    return yield* Effect.fail(
      `These pictures are stale:\n${
        stale.map(({ file }) => file).join("\n")
      }\nRun, and review: npx -y pnpm@10.34.9 run write:pictures`
    )
  }
  mkdirSync(folder, { recursive: true })
  for (const { file, svg } of stale) writeFileSync(file, svg)
  yield* Console.log(isCheck ? "The pictures are up to date." : `Wrote ${stale.length} pictures.`)
}).pipe(Logger.withMinimumLogLevel(LogLevel.None), NodeRuntime.runMain)
