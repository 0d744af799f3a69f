import { FileSystem, Path } from "@effect/platform"
import { Effect, Schedule, Schema } from "effect"
import * as Command from "./command.ts"
import { run } from "@credit-data/tools/run"

const decodeProgram = Schema.decodeUnknown(Schema.parseJson(Schema.NonEmptyArray(Schema.String)))

/** The rest of the line that begins with this instruction. */
const instruction = (dockerfile: string, name: string): string =>
  new RegExp(`^${name} (.*)$`, "m").exec(dockerfile)?.[1] ?? `there is no ${name}`

/** Does what a build and a start of the image would do, without a Docker engine: runs the commands of the Dockerfile with this node. */
export const walkDockerfile = Effect.fnUntraced(function*(file: string, node: string, folder: string) {
  const path = yield* Path.Path
  const dockerfile = yield* Effect.flatMap(FileSystem.FileSystem, (fileSystem) => fileSystem.readFileString(file))
  const image = `PATH=${path.dirname(node)}:${process.env["PATH"]}`
  const environment = [image, `npm_config_prefix=${folder}`, instruction(dockerfile, "ARG")]
  yield* run(folder, "env", ...environment, "sh", "-c", instruction(dockerfile, "RUN"))

  const [program, ...args] = yield* decodeProgram(instruction(dockerfile, "ENTRYPOINT"))
  const command = path.join(folder, "bin", program)
  const options = [...args, ...yield* decodeProgram(instruction(dockerfile, "CMD"))]
  const printed = yield* Command.simulator(["env", image, command, ...options])
  const [, check = ""] = /CMD (\[.*\])$/m.exec(instruction(dockerfile, "HEALTHCHECK")) ?? []
  const assignments = Object.entries(printed).map(([name, value]) => `${name}=${value}`)
  yield* Effect.retry(
    run(folder, "env", ...assignments, ...yield* decodeProgram(check)),
    Schedule.spaced("200 millis").pipe(
      Schedule.upTo("10 seconds")
    )
  )
  // the name of the machine, for which the command refuses plain http
  return Object.fromEntries(
    Object.entries(printed).map(([name, value]) => [name, value.replace(/^http:\/\/[^:]+:/, "http://127.0.0.1:")])
  )
})
