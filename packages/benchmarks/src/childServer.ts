import { Effect, type Scope } from "effect"
import { fork } from "node:child_process"
import { fileURLToPath } from "node:url"

/** Starts a server in a process of its own, and gives its address. The process ends with the scope. */
export const startProcess = (file: string): Effect.Effect<string, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.async<{ readonly url: string; readonly end: () => void }>((resume) => {
        const child = fork(fileURLToPath(new URL(file, import.meta.url)))
        child.once(
          "message",
          (port) =>
            resume(Effect.succeed({ url: `http://127.0.0.1:${String(Number(port))}`, end: () => child.disconnect() }))
        )
      }),
      ({ end }) => Effect.sync(end)
    ),
    ({ url }) => url
  )
