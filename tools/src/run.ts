import { run as runProcess } from "@credit-data/test-support/childProcess"
import { Effect } from "effect"

// pnpm sets variables for the scripts of this workspace. The shell of a new user does not have them.
for (const name of Object.keys(process.env)) {
  if (/^npm_config_/i.test(name) && !/_(registry|cafile|cache|userconfig)$/i.test(name)) delete process.env[name]
}

/** A command exited with another code than 0, or a check failed. */
export class CommandFailed extends Error {
  override readonly name = "CommandFailed"
}

/** Runs a command in a folder, and returns its output. Stops the command after a quarter of an hour, because a machine may be busy. */
export const run = (
  folder: string,
  command: string,
  ...args: ReadonlyArray<string>
): Effect.Effect<string, CommandFailed> =>
  Effect.gen(function*() {
    const { exitCode, stderr, stdout } = yield* runProcess([command, ...args], { cwd: folder })
    if (exitCode !== 0) {
      return yield* Effect.fail(
        new CommandFailed(`${command} ${args.join(" ")} ended with ${exitCode}\n${stdout}\n${stderr}`)
      )
    }
    return stdout
  }).pipe(
    Effect.timeoutFail({
      duration: "15 minutes",
      onTimeout: () => new CommandFailed(`${command} ${args.join(" ")} took more than 15 minutes`)
    })
  )
