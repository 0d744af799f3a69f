import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens } from "@credit-data/core"
import { DataAccess } from "@credit-data/http-client"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Redacted, TestClock, TestServices } from "effect"
import { createServer } from "node:net"
import { granted } from "../src/serverInMemory.ts"
import { listen } from "../src/tls.ts"
import { transports } from "../src/transports.ts"

/**
 * A server that issues tokens for three seconds. It resets the connection of its first call when `reset` is run, and responds to the
 * others. Returns the tokens of the calls.
 */
const serve = Effect.gen(function*() {
  const received: Array<string | undefined> = []
  const arrived = yield* Deferred.make<void>()
  let issued = 0
  let reset = () => {}
  const port = yield* listen(createServer((socket) => {
    const respond = (body: string) =>
      socket.end(
        `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`
      )
    socket.on("error", () => socket.destroy())
    socket.once("data", (data) => {
      const token = /authorization: bearer (\S+)/i.exec(data.toString("latin1"))?.[1]
      if (token === undefined) {
        respond(JSON.stringify({ ...granted(0), access_token: `token-${++issued}`, expires_in: 3 }))
      } else if (received.push(token) === 1) {
        reset = () => socket.resetAndDestroy()
        Deferred.unsafeDone(arrived, Effect.void)
      } else respond("{}")
    })
  }))
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    arrived: Deferred.await(arrived),
    reset: Effect.sync(() => reset())
  }
})

describe.each(transports)("a call that is sent again after a reset, over %s", (_, transport) => {
  for (
    const [what, meanwhile] of [
      ["has expired", () => TestClock.adjust("4 seconds")],
      [
        "was replaced",
        (tokens: AccessTokens.Service) => Effect.flatMap(tokens.get, (token) => Effect.orDie(tokens.replace(token)))
      ]
    ] as const
  ) {
    it.scoped(`has another token if the first one ${what} meanwhile`, () =>
      Effect.gen(function*() {
        const { arrived, received, reset, url } = yield* serve
        const Auth = AuthV2.layer({
          environment: { name: "raw", audience: "a", baseUrl: url, authV2Url: url },
          credentials: { clientId: "id", clientSecret: Redacted.make("a secret") },
          scopes: ["data-access:all"]
        })
        const Clients = DataAccess.layer().pipe(Layer.provideMerge(Auth), Layer.provide(transport))
        yield* Effect.gen(function*() {
          const client = yield* DataAccess.DataAccess
          const call = yield* Effect.fork(client.get("/a"))
          yield* arrived
          yield* meanwhile(yield* AccessTokens.AccessTokens)
          yield* reset
          const step = Effect.zipRight(
            TestServices.provideLive(Effect.sleep("5 millis")),
            TestClock.adjust("1 millis")
          )
          const response = yield* Effect.raceFirst(Fiber.join(call), Effect.forever(step))
          assert.strictEqual(response.status, 200)
        }).pipe(Effect.provide(Clients))
        assert.deepStrictEqual(received, ["token-1", "token-2"])
      }))
  }
})
