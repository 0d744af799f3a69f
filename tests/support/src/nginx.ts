import { Data, Effect, Schedule } from "effect"
import { spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Command } from "./childProcess.ts"
import { freePorts } from "./freePorts.ts"

/** The server does not accept connections, or not yet. */
class NotReady extends Data.TaggedError("NotReady")<{}> {}

const accepts = (port: number): Effect.Effect<void, NotReady> =>
  Effect.async((resume) => {
    const socket = connect(port, "127.0.0.1")
    socket.once("connect", () => resume(Effect.void)).once("error", () => resume(Effect.fail(new NotReady())))
    return Effect.sync(() => socket.destroy())
  })

/** A folder that is removed with the scope. */
export const temporaryFolder = (name: string) =>
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), `${name}-`))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )

/** Starts a server that runs in the foreground, and waits until it accepts connections. It ends with the scope. */
export const startServer = ([program, ...args]: Command, port: number) =>
  Effect.zipRight(
    Effect.acquireRelease(
      Effect.sync(() => spawn(program, args, { stdio: "ignore" })),
      (child) =>
        Effect.async<void>((resume) => {
          if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
          child.once("exit", () => resume(Effect.void))
          child.kill("SIGTERM")
        })
    ),
    accepts(port).pipe(Effect.retry(Schedule.spaced("20 millis")), Effect.timeout("10 seconds"), Effect.orDie)
  )

/** The settings for what nginx would otherwise write to the folders of the system. */
export const temporaryFiles = (folder: string): string =>
  ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${folder}/${name};`).join(" ")

/**
 * A real nginx on a port of this machine, in front of a server that responds with 200. It reads a body completely before it forwards a
 * request. It ends with the scope, and leaves nothing behind. Returns its address, and its log: a line with method, path and status for each
 * request.
 */
export const startNginx = Effect.gen(function*() {
  const folder = yield* temporaryFolder("nginx")
  const port = yield* freePorts(1)
  writeFileSync(
    join(folder, "nginx.conf"),
    // ignored unless root runs the test, whose folders no other user may read
    `user root; daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log;
    events {}
    http {
      ${temporaryFiles(folder)}
      log_format lines "$request_method $uri $status";
      client_max_body_size 10m;
      server {
        listen 127.0.0.1:${port};
        access_log ${folder}/access.log lines;
        location / { proxy_pass http://unix:${folder}/upstream; }
      }
      server {
        listen unix:${folder}/upstream;
        access_log off;
        location / { return 200 ok; }
      }
    }`
  )
  yield* startServer(["nginx", "-p", folder, "-c", join(folder, "nginx.conf")], port)
  return {
    url: `http://127.0.0.1:${port}`,
    lines: Effect.sync(() => readFileSync(join(folder, "access.log"), "utf8").split("\n").filter((line) => line !== ""))
  }
})
