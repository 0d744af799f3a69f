import { HttpClient } from "@effect/platform"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { connect, createServer } from "node:net"
import { fileURLToPath } from "node:url"

const folder = new URL("../../src/service/", import.meta.url)

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer().once("error", reject).listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

const spawnService = (port: number, variables: Readonly<Record<string, string>>) => {
  const child = spawn(process.execPath, ["--import", "tsx", fileURLToPath(new URL("main.ts", folder))], {
    cwd: fileURLToPath(folder), // from where its packages are found
    env: { ...process.env, ...variables, PORT: String(port) }
  })
  let output = ""
  const exited = new Promise<string>((resolve) => child.once("close", () => resolve(output)))
  const listening = new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (part: string) => {
        output += part
        if (output.includes("Listening on")) resolve()
      })
    }
    child.once("close", () => reject(new Error(`The service stopped:\n${output}`)))
  })
  const stop = () => {
    child.kill("SIGTERM")
    return exited
  }
  return { listening, stop }
}

/** Waits until nothing listens on the port any more. */
const closed = async (port: number): Promise<void> => {
  const isOpen = await new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy()
      resolve(true)
    }).once("error", () => resolve(false))
  })
  if (isOpen) await closed(port)
}

/** Starts the service as a child process on a free port. It ends with the scope. */
export const startService = Effect.fnUntraced(function*(variables: Readonly<Record<string, string>>) {
  const port = yield* Effect.promise(freePort)
  const { listening, stop } = yield* Effect.acquireRelease(
    Effect.sync(() => spawnService(port, variables)),
    ({ stop }) => Effect.promise(stop)
  )
  yield* Effect.promise(() => listening)
  return {
    get: (path: string) =>
      Effect.flatMap(
        HttpClient.get(`http://127.0.0.1:${port}${path}`),
        (response) => Effect.map(response.text, (text) => ({ status: response.status, text }))
      ),
    /** Sends SIGTERM, as an orchestrator does, and returns everything that the service printed. */
    stop: Effect.promise(stop),
    /** Waits until the service accepts no further connections. */
    closed: Effect.promise(() => closed(port))
  }
})
