import { NodeServices } from "@effect/platform-node"
import { Effect, Fiber, Option, Stream, String as Str, SubscriptionRef } from "effect"
import { ChildProcess, type ChildProcessSpawner } from "effect/process"
import { bundle } from "./bundle.ts"

/** The exit code of a process, and what it printed. */
export interface Ended {
  readonly exitCode: ChildProcessSpawner.ExitCode
  readonly stdout: string
  readonly stderr: string
}

/** A command that runs a TypeScript program and prints without colours. */
export const script = (file: string, ...args: ReadonlyArray<string>): ChildProcess.Command =>
  ChildProcess.make(process.execPath, [bundle(file), ...args], {
    env: { NO_COLOR: "1" },
    extendEnv: true
  })

/** Starts a command as a child process, which ends when the scope is closed. */
export const start = Effect.fnUntraced(function*(command: ChildProcess.Command) {
  const child = yield* command
  // both are read from the start: a process blocks when a pipe that is not read is full
  const collect = Effect.fnUntraced(function*(stream: typeof child.stdout) {
    const text = yield* SubscriptionRef.make("")
    const reading = yield* Effect.forkScoped(
      Stream.runForEach(Stream.decodeText(stream), (part) => SubscriptionRef.update(text, Str.concat(part)))
    )
    return { text, whole: Effect.andThen(Fiber.join(reading), SubscriptionRef.get(text)) }
  })
  const stdout = yield* collect(child.stdout)
  const stderr = yield* collect(child.stderr)
  return {
    child,
    /** Waits until the output has this part, or until the process ends, and returns the output. */
    printed: (part: string) =>
      SubscriptionRef.changes(stdout.text).pipe(
        Stream.filter(Str.includes(part)),
        Stream.runHead,
        Effect.flatMap(Option.match({ onNone: () => stdout.whole, onSome: Effect.succeed })),
        Effect.raceFirst(stdout.whole)
      ),
    /** Waits until the process exits. */
    end: Effect.gen(function*(): Effect.fn.Return<Ended, Effect.Error<typeof child.exitCode>> {
      const exitCode = yield* child.exitCode
      return { exitCode, stdout: yield* stdout.whole, stderr: yield* stderr.whole }
    })
  }
}, Effect.provide(NodeServices.layer))

/** Runs a command until it exits. */
export const run = (command: ChildProcess.Command) => Effect.scoped(Effect.flatMap(start(command), ({ end }) => end))
