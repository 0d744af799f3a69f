import { Command, type CommandExecutor, type Error as PlatformError } from "@effect/platform"
import { Effect, Stream, String as Str } from "effect"

// What pnpm tells the scripts of this workspace, its settings among it, isn't what a stranger's shell says.
for (const name of Object.keys(process.env)) {
  if (/^npm_config_/i.test(name) && !/_(registry|cafile|cache|userconfig)$/i.test(name)) delete process.env[name]
}

/** A command that ended with anything but 0. */
export class CommandFailed extends Error {
  override readonly name = "CommandFailed"
}

/** Runs a command in a folder, and gives what it printed. It is stopped after five minutes. */
export const run = (
  folder: string,
  command: string,
  ...args: ReadonlyArray<string>
): Effect.Effect<string, CommandFailed | PlatformError.PlatformError, CommandExecutor.CommandExecutor> =>
  Effect.gen(function*() {
    const child = yield* Command.start(
      Command.make(command, ...args).pipe(
        Command.workingDirectory(folder),
        Command.env({ NO_COLOR: "1" })
      )
    )
    const text = (stream: typeof child.stdout) => stream.pipe(Stream.decodeText(), Stream.runFold("", Str.concat))
    const [exitCode, stdout, stderr] = yield* Effect.all([child.exitCode, text(child.stdout), text(child.stderr)], {
      concurrency: "unbounded"
    })
    if (exitCode !== 0) {
      return yield* Effect.fail(
        new CommandFailed(`${command} ${args.join(" ")} ended with ${exitCode}\n${stdout}\n${stderr}`)
      )
    }
    return stdout
  }).pipe(
    Effect.scoped,
    Effect.timeoutFail({
      duration: "5 minutes",
      onTimeout: () => new CommandFailed(`${command} ${args.join(" ")} took more than 5 minutes`)
    })
  )
