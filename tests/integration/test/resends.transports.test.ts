import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens } from "@credit-data/core"
import { DataAccess } from "@credit-data/http-client"
import { whileTimePasses } from "@credit-data/test-support/whileTimePasses"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, TestClock } from "effect"
import { optionsAt } from "../src/clients.ts"
import { granted, respond, serveSockets } from "../src/servers.ts"
import { transports } from "../src/transports.ts"

/**
 * A server that issues tokens for three seconds. It resets the connection of its first call when `reset` is run, and responds to the
 * others. Returns the tokens of the calls.
 */
const serve = Effect.gen(function*() {
  const received: Array<string> = []
  const arrived = yield* Deferred.make<() => void>()
  let issued = 0
  const url = yield* serveSockets((socket) => {
    const end = (body: object) => socket.end(respond(JSON.stringify(body), "Connection: close"))
    socket.once("data", (data) => {
      const token = /authorization: bearer (\S+)/i.exec(data.toString("latin1"))?.[1]
      if (token === undefined) end({ ...granted(0), access_token: `token-${++issued}`, expires_in: 3 })
      else if (received.push(token) > 1) end({})
      else Deferred.unsafeDone(arrived, Effect.succeed(() => socket.resetAndDestroy()))
    })
  })
  return { url, received, arrived: Deferred.await(arrived) }
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
        const { arrived, received, url } = yield* serve
        const Auth = AuthV2.layer(optionsAt(url))
        yield* Effect.gen(function*() {
          const client = yield* DataAccess.DataAccess
          const call = yield* Effect.fork(client.get("/a"))
          const reset = yield* arrived
          yield* meanwhile(yield* AccessTokens.AccessTokens)
          reset()
          const response = yield* whileTimePasses(Fiber.join(call), { realMillis: 5, stepMillis: 1 })
          assert.strictEqual(response.status, 200)
        }).pipe(Effect.provide(DataAccess.layer().pipe(Layer.provideMerge(Auth), Layer.provide(transport))))
        assert.deepStrictEqual(received, ["token-1", "token-2"])
      }))
  }
})
