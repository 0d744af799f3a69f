import { type StoreEngine } from "@credit-data/fleet"
import { makeAuthority } from "@credit-data/test-support/certificates"
import { freePorts } from "@credit-data/test-support/freePorts"
import { startRedis } from "@credit-data/test-support/redisServer"
import { relay } from "@credit-data/test-support/relay"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Schedule } from "effect"
import { acl, moveSlot, startCluster } from "./support/cluster.ts"
import { recipes } from "./support/recipes.ts"
import { eventually, name, storeOf, storeOver, works } from "./support/store.ts"
import { makeLocalhost, writeCertificate } from "./support/tls.ts"

const names = Array.from({ length: 20 }, (_, index) => index.toString(16).padStart(64, "0"))

/** The store works again when its client reads a changed password, and not before. */
const readsPassword = Effect.fnUntraced(function*(
  store: StoreEngine.Service,
  servers: ReadonlyArray<{ readonly command: (text: string) => Effect.Effect<string> }>,
  change: (password: string) => void
) {
  const all = eventually(Effect.forEach(names, (name) => store.read(name)))
  yield* all
  for (const { command } of servers) {
    yield* command("ACL SETUSER credit-data resetpass >second")
    yield* command("CLIENT KILL USER credit-data")
  }
  yield* Effect.flip(store.read(name)).pipe(
    Effect.filterOrFail(({ code }) => code === "WRONGPASS"),
    Effect.retry({ schedule: Schedule.spaced("20 millis"), times: 500 })
  )
  change("second")
  yield* all
})

describe("Redis with TLS", () => {
  it.scopedLive("works with a certificate of a trusted authority, and with no other", () =>
    Effect.gen(function*() {
      const certificate = yield* makeLocalhost
      const { port } = yield* startRedis({
        tls: true,
        settings: [...(yield* writeCertificate(certificate)), "tls-auth-clients no", "requirepass a-password"]
      })
      const url = `rediss://:a-password@localhost:${port}`
      yield* eventually(works(yield* storeOf({ url, tls: { ca: certificate.authority.cert } })))
      const other = yield* storeOf({ url, tls: { ca: (yield* makeAuthority).cert } })
      const error = yield* Effect.flip(other.read(name))
      assert.strictEqual(error.reason, "Unavailable")
      assert.match(error.hint ?? error.code, /The Redis certificate is not trusted/)
    }))
})

// the recipes in the example of `RedisClient`
for (const [version, { bySentinels, byToken, ofCluster }] of Object.entries(recipes)) {
  describe(`a client of ${version}`, { concurrent: true }, () => {
    it.scopedLive(
      "by sentinels continues with the promoted replica of a master that stands still, and reads its password",
      () =>
        Effect.gen(function*() {
          const master = yield* startRedis({ settings: acl })
          const replica = yield* startRedis({
            settings: [`replicaof 127.0.0.1 ${master.port}`, "repl-diskless-sync-delay 0", ...acl]
          })
          const sentinel = yield* startRedis({
            sentinel: true,
            settings: [
              `sentinel monitor main 127.0.0.1 ${master.port} 1`,
              "sentinel down-after-milliseconds main 500",
              "sentinel failover-timeout main 2000"
            ]
          })
          let password = "change-me"
          const store = yield* storeOver(() =>
            bySentinels([{ host: "127.0.0.1", port: sentinel.port }], () => password)
          )
          const before = yield* eventually(works(store))
          // the sentinel has found the replica
          yield* eventually(Effect.filterOrFail(
            sentinel.command("SENTINEL REPLICAS main"),
            (output) => output.includes("master-link-status") && output.includes("\r\nok\r\n")
          ))
          yield* master.pause
          assert.isAbove(yield* eventually(works(store)), before)
          yield* readsPassword(store, [replica], (changed) => {
            password = changed
          })
        }),
      60_000
    )

    it.scopedLive("of a cloud's server uses the next token when it has to connect again", () =>
      Effect.gen(function*() {
        const certificate = yield* makeLocalhost
        const tlsPort = yield* freePorts(1)
        const server = yield* startRedis({
          settings: [`tls-port ${tlsPort}`, ...(yield* writeCertificate(certificate)), "tls-auth-clients no", ...acl]
        })
        let password = "change-me"
        const store = yield* storeOver(() =>
          byToken("localhost", () => password, { port: tlsPort, tls: { ca: certificate.authority.cert } })
        )
        yield* eventually(works(store))
        yield* readsPassword(store, [server], (changed) => {
          password = changed
        })
      }), 60_000)

    it.scopedLive(
      "of a cloud's server works again within 5 s when nothing passes on its connection any more",
      () =>
        Effect.gen(function*() {
          const certificate = yield* makeLocalhost
          const tlsPort = yield* freePorts(1)
          yield* startRedis({
            settings: [`tls-port ${tlsPort}`, ...(yield* writeCertificate(certificate)), "tls-auth-clients no", ...acl]
          })
          const address = yield* relay(tlsPort)
          const store = yield* storeOver(() =>
            byToken("localhost", () => "change-me", { port: address.port, tls: { ca: certificate.authority.cert } })
          )
          yield* eventually(works(store))
          yield* address.freeze
          const [elapsed] = yield* Effect.timed(eventually(works(store)))
          assert.isBelow(Duration.toMillis(elapsed), 5_000)
        }),
      60_000
    )

    it.scopedLive(
      "of a cluster keeps each entry on one of its nodes, whose certificates contain a host name, and reads its password",
      () =>
        Effect.gen(function*() {
          const certificate = yield* makeLocalhost
          const { nodes } = yield* startCluster(certificate)
          let password = "change-me"
          const store = yield* storeOver(() =>
            ofCluster(nodes.map(({ tlsPort }) => ({ host: "localhost", port: tlsPort })), () => password, {
              tls: { ca: certificate.authority.cert }
            })
          )
          for (const entry of names) yield* eventually(works(store, entry))
          const sizes = yield* Effect.forEach(nodes, (node) => node.command("DBSIZE"))
          assert.lengthOf(sizes.filter((size) => size !== ":0\r\n"), 3, sizes.join())
          yield* readsPassword(store, nodes, (changed) => {
            password = changed
          })
        }),
      60_000
    )

    it.scopedLive(
      "of a cluster continues with an entry whose slot moves to another node under load",
      () =>
        Effect.gen(function*() {
          const certificate = yield* makeLocalhost
          const { nodes } = yield* startCluster(certificate)
          const store = yield* storeOver(() =>
            ofCluster(nodes.map(({ tlsPort }) => ({ host: "localhost", port: tlsPort })), () => "change-me", {
              tls: { ca: certificate.authority.cert }
            })
          )
          const before = yield* eventually(works(store))
          const { begin, end, source, target } = yield* moveSlot(nodes, name)

          const fences: Array<number> = [before]
          const codes = new Set<string>()
          const load = yield* Effect.fork(Effect.forever(
            works(store).pipe(
              Effect.map((fence) => fences.push(fence)),
              Effect.catchAll(({ code }) => Effect.sync(() => codes.add(code))),
              // another owner may have the lease that an operation left behind
              Effect.catchAllDefect(() => Effect.void),
              Effect.zipRight(Effect.sleep("5 millis"))
            )
          ))
          const written = (count: number) =>
            eventually(Effect.filterOrFail(Effect.sync(() => fences.length), (length) => length >= count))
          yield* written(20)
          yield* begin
          for (const kind of ["value", "lease"]) {
            yield* source.command(`MIGRATE 127.0.0.1 ${target.port} credit-data:{${name}}:${kind} 0 1000 REPLACE`)
            yield* Effect.sleep("50 millis")
          }
          yield* end(target)
          yield* written(fences.length + 20)
          yield* Fiber.interrupt(load)
          assert.deepStrictEqual(fences, fences.toSorted((a, b) => a - b))
          assert.strictEqual(new Set(fences).size, fences.length)
          assert.deepStrictEqual(Array.from(codes).filter((code) => !["TRYAGAIN", "ASK", "MOVED"].includes(code)), [])
          assert.notStrictEqual(yield* target.command("DBSIZE"), ":0\r\n")
        }),
      60_000
    )
  })
}
