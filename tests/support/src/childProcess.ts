import { Command, type CommandExecutor } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { Effect, Option, Stream, String as Str, SubscriptionRef } from "effect"

/** How a process ended, and what it printed. */
export interface Ended {
  readonly exitCode: CommandExecutor.ExitCode
  readonly stdout: string
  readonly stderr: string
}

/** A TypeScript file as a command, which prints without colours. */
export const script = (file: string, ...args: ReadonlyArray<string>): Command.Command =>
  Command.make(process.execPath, "--import", "tsx", file, ...args).pipe(Command.env({ NO_COLOR: "1" }))

/** Starts a command as a process of its own, which ends with the scope. */
export const start = Effect.fnUntraced(function*(command: Command.Command) {
  const child = yield* Command.start(command)
  // both are read from the start: a process stops when it fills a pipe that nobody reads
  const collect = Effect.fnUntraced(function*(stream: typeof child.stdout) {
    const text = yield* SubscriptionRef.make("")
    const whole = yield* Effect.fork(
      Stream.runForEach(Stream.decodeText(stream), (part) => SubscriptionRef.update(text, Str.concat(part)))
    )
    return { text, whole: Effect.zipRight(whole, text.get) }
  })
  const stdout = yield* collect(child.stdout)
  const stderr = yield* collect(child.stderr)
  return {
    child,
    /** What it has printed once this part is in it, or all of it if it ends before. */
    printed: (part: string) =>
      stdout.text.changes.pipe(
        Stream.filter(Str.includes(part)),
        Stream.runHead,
        Effect.flatMap(Option.match({ onNone: () => stdout.whole, onSome: Effect.succeed })),
        Effect.raceFirst(stdout.whole)
      ),
    /** Waits until it has ended by itself. */
    end: Effect.gen(function*(): Effect.fn.Return<Ended, Effect.Effect.Error<typeof child.exitCode>> {
      const exitCode = yield* child.exitCode
      return { exitCode, stdout: yield* stdout.whole, stderr: yield* stderr.whole }
    })
  }
}, Effect.provide(NodeContext.layer))

/** Runs a command until it has ended by itself. */
export const run = (command: Command.Command) => Effect.scoped(Effect.flatMap(start(command), ({ end }) => end))
