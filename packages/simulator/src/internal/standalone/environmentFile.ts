import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import { StartError } from "./startError.ts"
import * as Variables from "./variables.ts"

const refuse = (message: string) => Effect.fail(new StartError({ message: `--write-env: ${message}` }))

const exists = (file: string) =>
  refuse(`${file} already exists, and the simulator overwrites no file. Remove it, or choose another file.`)

/**
 * Only a value that a shell could change has quotes, because some readers of the file keep them. None of the values contains a quote.
 */
const textOf = (variables: Readonly<Record<string, string>>) =>
  Object.entries(variables).map(([name, value]) => `${name}=${/^[\w:/.-]*$/.test(value) ? value : `'${value}'`}\n`)
    .join("")

/** Fails if there is something at this path, before the servers start. */
export const check = (file: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fileSystem) =>
    Effect.flatMap(
      Effect.orElseSucceed(fileSystem.exists(file), () => false),
      (found) => found ? exists(file) : Effect.void
    ))

/** Writes the variables to a new file that only its owner can read, because they contain the client secret. */
export const write = (file: string) =>
  Effect.gen(function*() {
    const fileSystem = yield* FileSystem.FileSystem
    const text = textOf(yield* Variables.all)
    yield* fileSystem.writeFileString(file, text, { flag: "wx", mode: 0o600 }).pipe(
      Effect.catchAll(() =>
        Effect.zipRight(
          check(file),
          refuse(`${file} cannot be written. Check that its folder exists and is writable.`)
        )
      )
    )
  })
