import { Effect, type Scope } from "effect"
import { fork } from "node:child_process"
import { fileURLToPath } from "node:url"

/** Starts a process and returns the first message that it sends. The process ends when the scope is closed. */
export const firstMessage = (
  file: string,
  args: ReadonlyArray<string>,
  env: NodeJS.ProcessEnv = {}
): Effect.Effect<unknown, never, Scope.Scope> =>
  Effect.gen(function*() {
    const child = yield* Effect.acquireRelease(
      Effect.sync(() => fork(fileURLToPath(new URL(file, import.meta.url)), args, { env: { ...process.env, ...env } })),
      (child) =>
        Effect.sync(() => {
          if (child.connected) child.disconnect()
        })
    )
    return yield* Effect.async<unknown>((resume) => {
      child.once("message", (message) => resume(Effect.succeed(message)))
      child.once("exit", (code) => resume(Effect.dieMessage(`${file} exited with ${String(code)} and sent nothing`)))
    })
  })

/** Starts a server in a child process and returns its address. The process ends when the scope is closed. */
export const startProcess = (file: string, ...args: ReadonlyArray<string>): Effect.Effect<string, never, Scope.Scope> =>
  Effect.map(firstMessage(file, args), String)
