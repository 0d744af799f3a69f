import { Data, Effect, Schedule } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freePorts } from "./freePorts.ts"

/** The server does not respond, or not yet. */
class NotReady extends Data.TaggedError("NotReady")<{}> {}

/** Connects to the server. With a command, sends it and returns the beginning of the output. */
const ask = (port: number, command?: string): Effect.Effect<string, NotReady> =>
  Effect.async((resume) => {
    const socket = connect(port, "127.0.0.1")
    const end = (output: string) => {
      socket.destroy()
      resume(Effect.succeed(output))
    }
    socket.setTimeout(10_000, () => socket.destroy(new Error("no response")))
    socket.once("error", () => resume(Effect.fail(new NotReady())))
    socket.once("connect", () => command === undefined ? end("") : socket.write(`${command}\r\n`))
    socket.once("data", (data) => end(data.toString()))
    return Effect.sync(() => socket.destroy())
  })

const exited = (child: ChildProcess): Effect.Effect<void> =>
  Effect.async((resume) => {
    if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
    child.once("exit", () => resume(Effect.void))
  })

/** A real `redis-server` on a port of this machine. It ends with the scope, and leaves nothing behind. */
export const startRedis = Effect.fnUntraced(function*(options: {
  readonly settings?: ReadonlyArray<string>
  /** The port is for TLS. `command` does not work then. */
  readonly tls?: boolean
  readonly sentinel?: boolean
} = {}) {
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "redis-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
  )
  const port = yield* freePorts(1)
  const file = join(folder, "redis.conf")
  writeFileSync(
    file,
    [
      options.tls === true ? `port 0\ntls-port ${port}` : `port ${port}`,
      "bind 127.0.0.1",
      `dir ${folder}`,
      ...(options.sentinel === true ? [] : ["save \"\""]),
      ...(options.settings ?? [])
    ].join("\n")
  )
  const start = Effect.sync(() =>
    spawn("redis-server", [file, ...(options.sentinel === true ? ["--sentinel"] : [])], { stdio: "ignore" })
  )
  let child = yield* start
  const stop = (signal: NodeJS.Signals) =>
    Effect.suspend(() => {
      child.kill("SIGCONT")
      child.kill(signal)
      return exited(child)
    })
  yield* Effect.addFinalizer(() => stop("SIGKILL"))
  const command = (text: string) => Effect.orDie(ask(port, text))
  const awaitListening = ask(port, options.tls === true ? undefined : "PING").pipe(
    Effect.filterOrFail((output) => !output.startsWith("-LOADING"), () => new NotReady()),
    Effect.retry(Schedule.spaced("20 millis")),
    Effect.timeout("10 seconds"),
    Effect.orDie
  )
  yield* awaitListening
  return {
    port,
    folder,
    url: `${options.tls === true ? "rediss" : "redis"}://127.0.0.1:${port}`,
    /** Sends one command and returns the beginning of the output. */
    command,
    /** The process does not run until `resume`. Connections remain open. */
    pause: Effect.sync(() => child.kill("SIGSTOP")),
    resume: Effect.sync(() => child.kill("SIGCONT")),
    kill: stop("SIGKILL"),
    /** Starts again on the same port, after `kill`. Without persistence it is empty. */
    restart: Effect.zipRight(
      Effect.map(start, (started) => {
        child = started
      }),
      awaitListening
    ),
    /** What the server wrote to disk, by the name of the file. */
    written: Effect.sync(() => {
      const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
        /\.(rdb|aof)$/.test(name)
      )
      return Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name), "latin1")]))
    })
  }
})
