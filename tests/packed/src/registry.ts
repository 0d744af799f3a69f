import { freePorts } from "@credit-data/test-support/freePorts"
import { temporary } from "@credit-data/tools/pack"
import { run } from "@credit-data/tools/run"
import { FileSystem, Path } from "@effect/platform"
import { Effect, Schedule } from "effect"
import { spawn } from "node:child_process"
import { createServer, request } from "node:http"

/** A real registry on loopback, for the packages of this project only. Everything else comes from the usual registry. */
export const startRegistry = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = yield* temporary
  yield* fs.copy(path.resolve(import.meta.dirname, "../registry"), folder)
  yield* run(folder, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
  yield* fs.writeFileString(
    path.join(folder, "config.json"),
    JSON.stringify({
      storage: path.join(folder, "storage"),
      auth: { htpasswd: { file: path.join(folder, "htpasswd") } },
      uplinks: {},
      packages: Object.fromEntries(
        ["@credit-data/*", "create-credit-data"].map((name) => [name, {
          access: "$all",
          publish: "$all",
          unpublish: "$all"
        }])
      ),
      log: { type: "stdout", level: "fatal" }
    })
  )
  const port = yield* freePorts(1)
  const program = path.join(folder, "node_modules/verdaccio/bin/verdaccio")
  yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn("npx", ["-y", "node@24", program, "-c", path.join(folder, "config.json"), "-l", `127.0.0.1:${port}`], {
        stdio: "ignore",
        // npx and its child belong to one group of processes
        detached: true
      })
    ),
    (child) => Effect.sync(() => child.pid !== undefined && process.kill(-child.pid))
  )
  yield* Effect.tryPromise(() => fetch(`http://127.0.0.1:${port}/-/ping`)).pipe(
    Effect.retry({ schedule: Schedule.spaced("200 millis"), times: 300 })
  )
  return port
})

/** A proxy to the registry on which the publication of one package fails, once. Returns its port. */
export const startFlakyWay = Effect.fnUntraced(function*(registry: number) {
  /** How many publications succeed before the failure. */
  let left = Number.POSITIVE_INFINITY
  const server = createServer((incoming, response) => {
    if (incoming.method === "PUT" && --left < 0) {
      left = Number.POSITIVE_INFINITY
      incoming.resume()
      incoming.once("end", () => response.writeHead(400).end("{\"error\":\"planted\"}"))
      return
    }
    const { headers, method, url } = incoming
    incoming.pipe(
      request({ host: "127.0.0.1", port: registry, path: url, method, headers }, (upstream) => {
        response.writeHead(upstream.statusCode ?? 500, upstream.headers)
        upstream.pipe(response)
      })
    )
  })
  const port = yield* freePorts(1)
  yield* Effect.acquireRelease(
    Effect.async<void>((resume) => {
      server.listen(port, "127.0.0.1", () => resume(Effect.void))
    }),
    () => Effect.sync(() => server.close())
  )
  return { port, failAfter: (count: number) => Effect.sync(() => void (left = count)) }
})
