import { FileSystem, Path } from "@effect/platform"
import { Effect, Schedule, Schema } from "effect"
import * as Command from "./command.ts"
import { run } from "@credit-data/tools/run"

const decodeProgram = Schema.decodeUnknown(Schema.parseJson(Schema.NonEmptyArray(Schema.String)))

/** The rest of the line that begins with this instruction. */
const instruction = (dockerfile: string, name: string): string =>
  new RegExp(`^${name} (.*)$`, "m").exec(dockerfile)?.[1] ?? `there is no ${name}`

/** Does what a build and a start of the image would do, without a Docker engine: runs the commands of the Dockerfile. */
export const walkDockerfile = Effect.fnUntraced(function*(file: string, tarball: string, folder: string) {
  const path = yield* Path.Path
  const dockerfile = yield* Effect.flatMap(FileSystem.FileSystem, (fileSystem) => fileSystem.readFileString(file))
  const environment = [`npm_config_prefix=${folder}`, `PACKAGE=${tarball}`]
  yield* run(folder, "env", ...environment, "sh", "-c", instruction(dockerfile, "RUN"))

  const [program, ...args] = yield* decodeProgram(instruction(dockerfile, "ENTRYPOINT"))
  const command = path.join(folder, "bin", program)
  const printed = yield* Command.simulator([command, ...args, ...yield* decodeProgram(instruction(dockerfile, "CMD"))])
  // the name of the machine, for which the command of this package refuses plain http
  const variables = Object.fromEntries(
    Object.entries(printed).map(([name, value]) => [name, value.replace(/^http:\/\/[^:]+:/, "http://127.0.0.1:")])
  )
  const [, check = ""] = /CMD (\[.*\])$/m.exec(instruction(dockerfile, "HEALTHCHECK")) ?? []
  const assignments = Object.entries(variables).map(([name, value]) => `${name}=${value}`)
  yield* Effect.retry(
    run(folder, "env", ...assignments, ...yield* decodeProgram(check)),
    Schedule.spaced("200 millis").pipe(
      Schedule.upTo("10 seconds")
    )
  )
  yield* Command.getToken([command], variables)
}, Effect.scoped)
