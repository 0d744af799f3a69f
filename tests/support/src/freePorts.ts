import { Effect } from "effect"
import { createServer } from "node:net"

const isFree = (port: number) =>
  new Promise<boolean>((resolve) => {
    const server = createServer()
    server.on("error", () => resolve(false))
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)))
  })

/** Whether nothing listens on the ports from this one on. */
export const areFree = (first: number, count: number): Effect.Effect<boolean> =>
  Effect.promise(async () => {
    for (let port = first; port < first + count; port++) if (!(await isFree(port))) return false
    return true
  })

/** The first of several consecutive ports on which nothing listens. They are below those that a system gives to clients. */
export const freePorts = (count: number): Effect.Effect<number> =>
  Effect.suspend(() => {
    const first = 20_000 + Math.floor(Math.random() * 10_000)
    return Effect.flatMap(areFree(first, count), (free) => free ? Effect.succeed(first) : freePorts(count))
  })
