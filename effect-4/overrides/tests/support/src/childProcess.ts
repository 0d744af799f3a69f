import { NodeServices } from "@effect/platform-node"
import { Effect, Fiber, Option, Stream, String as Str, SubscriptionRef } from "effect"
import { ChildProcess, type ChildProcessSpawner } from "effect/process"

/** How a process ended, and what it printed. */
export interface Ended {
  readonly exitCode: ChildProcessSpawner.ExitCode
  readonly stdout: string
  readonly stderr: string
}

/** A TypeScript file as a command, which prints without colours. */
export const script = (file: string, ...args: ReadonlyArray<string>): ChildProcess.Command =>
  ChildProcess.make(process.execPath, ["--import", "tsx", file, ...args], {
    env: { NO_COLOR: "1" },
    extendEnv: true
  })

/** Starts a command as a process of its own, which ends with the scope. */
export const start = Effect.fnUntraced(function*(command: ChildProcess.Command) {
  const child = yield* command
  // both are read from the start: a process stops when it fills a pipe that nobody reads
  const collect = Effect.fnUntraced(function*(stream: typeof child.stdout) {
    const text = yield* SubscriptionRef.make("")
    const reading = yield* Effect.forkChild(
      Stream.runForEach(Stream.decodeText(stream), (part) => SubscriptionRef.update(text, Str.concat(part)))
    )
    return { text, whole: Effect.andThen(Fiber.join(reading), SubscriptionRef.get(text)) }
  })
  const stdout = yield* collect(child.stdout)
  const stderr = yield* collect(child.stderr)
  return {
    child,
    /** What it has printed once this part is in it, or all of it if it ends before. */
    printed: (part: string) =>
      SubscriptionRef.changes(stdout.text).pipe(
        Stream.filter(Str.includes(part)),
        Stream.runHead,
        Effect.flatMap(Option.match({ onNone: () => stdout.whole, onSome: Effect.succeed })),
        Effect.raceFirst(stdout.whole)
      ),
    /** Waits until it has ended by itself. */
    end: Effect.gen(function*(): Effect.fn.Return<Ended, Effect.Error<typeof child.exitCode>> {
      const exitCode = yield* child.exitCode
      return { exitCode, stdout: yield* stdout.whole, stderr: yield* stderr.whole }
    })
  }
}, Effect.provide(NodeServices.layer))

/** Runs a command until it has ended by itself. */
export const run = (command: ChildProcess.Command) => Effect.scoped(Effect.flatMap(start(command), ({ end }) => end))
