import { HttpClient } from "@effect/platform"
import { Effect } from "effect"
import { script, start } from "./childProcess.ts"
import { freePorts } from "./freePorts.ts"

/** Starts a service as a child process, on the port that the variable `PORT` names: by default, on a free one. */
export const startService = Effect.fnUntraced(function*(file: string, variables: Record<string, string>) {
  const port = variables["PORT"] === undefined ? yield* freePorts(1) : Number(variables["PORT"])
  const { kill, printed } = yield* start(script(file), { env: { ...variables, PORT: String(port) } })
  yield* printed("Listening on")
  const url = `http://127.0.0.1:${port}`
  return {
    port,
    url,
    get: (path: string) =>
      Effect.flatMap(
        HttpClient.get(`${url}${path}`),
        (response) =>
          Effect.map(response.text, (text) => ({ status: response.status, text, headers: response.headers }))
      ),
    /** Sends a signal, and waits until the service exits. */
    kill,
    /** Ends the service as an orchestrator does, and returns its output and how long it took. */
    stop: Effect.timed(kill("SIGTERM"))
  }
})
