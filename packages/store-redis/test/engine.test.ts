import { TokenStore } from "@credit-data/fleet"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Option } from "effect"
import { EventEmitter } from "node:events"
import { setImmediate } from "node:timers/promises"
import { layerClient } from "../src/RedisTokenStore.ts"

// A client without a server, for what a server cannot be made to do.

const name = "a".repeat(64)
const buffers = (...texts: ReadonlyArray<string>) => texts.map((text) => Buffer.from(text))
const found = buffers("12:abc", "1700000000000", "1")

/** A store over a client with this status, whose scripts return this. */
const make = Effect.fnUntraced(function*(status: string, reply: unknown = found) {
  const defined: Record<string, number> = {}
  const client = Object.assign(new EventEmitter(), {
    status,
    commands: 0,
    defineCommand: (name: string, { numberOfKeys }: { readonly numberOfKeys?: number }) => {
      defined[name] = numberOfKeys ?? 0
    },
    creditDataReadBuffer: () => {
      client.commands++
      return Promise.resolve(reply)
    }
  })
  const context = yield* Layer.build(layerClient({ client }))
  return { client, defined, read: Context.get(context, TokenStore.TokenStore).read(name) }
})

describe("the scripts of a store", () => {
  it.scoped("have two keys, except for reading, because a cluster refuses two keys while a slot moves", () =>
    Effect.gen(function*() {
      const { defined } = yield* make("ready")
      assert.deepStrictEqual(defined, {
        creditDataRead: 1,
        creditDataTakeLease: 2,
        creditDataReleaseLease: 2,
        creditDataPublish: 2
      })
    }))

  const values: ReadonlyArray<readonly [text: string, fence: number, bytes: string]> = [
    ["12:abc", 12, "abc"],
    ["999999999999999:", 999_999_999_999_999, ""]
  ]
  for (const [text, fence, bytes] of values) {
    it.scoped(`return a value with its fence: ${text}`, () =>
      Effect.gen(function*() {
        const { read } = yield* make("ready", buffers(text, "5", "0"))
        const { now, value } = yield* read
        assert.deepStrictEqual([now, value], [
          5,
          Option.some({ bytes: new Uint8Array(Buffer.from(bytes)), fence })
        ])
      }))
  }

  const wrong: ReadonlyArray<unknown> = [
    null,
    found.slice(1),
    buffers("x12:abc", "5", "1"),
    buffers("12:abc", "5", "11"),
    buffers("12:abc", "5", "x1"),
    buffers("12:abc", "5s", "1"),
    ["12:abc", "5", "1"]
  ]
  for (const [index, reply] of wrong.entries()) {
    it.scoped(`that return something else are refused: ${index}`, () =>
      Effect.gen(function*() {
        const { read } = yield* make("ready", reply)
        const { code, reason } = yield* Effect.flip(read)
        assert.deepStrictEqual({ code, reason }, { code: "REPLY", reason: "Refused" })
      }))
  }
})

describe("the connection of a store", () => {
  for (const status of ["connecting", "connect"]) {
    for (const [event, next, isRead] of [["ready", "ready", true], ["close", "reconnecting", false]] as const) {
      it.scoped(`is awaited in the state ${status}, until ${event}`, () =>
        Effect.gen(function*() {
          const { client, read } = yield* make(status)
          const reading = yield* Effect.fork(Effect.isSuccess(read))
          // until the fiber waits
          yield* Effect.promise(() => setImmediate())
          assert.strictEqual(client.commands, 0)
          client.status = next
          client.emit(event)
          assert.strictEqual(yield* Fiber.join(reading), isRead)
          assert.deepStrictEqual([client.commands, client.listenerCount("close")], [isRead ? 1 : 0, 0])
        }))
    }
  }

  it.scoped("that has ended gets no command, and the failure has the last reason, until it was ready again", () =>
    Effect.gen(function*() {
      const { client, read } = yield* make("end")
      const codes: Array<string | undefined> = []
      const look = Effect.map(Effect.flip(read), ({ code }) => codes.push(code))
      yield* look
      client.emit("error", Object.assign(new Error("no"), { code: "ECONNREFUSED" }))
      yield* look
      client.emit("ready")
      yield* look
      assert.deepStrictEqual(codes, ["CLOSED", "ECONNREFUSED", "CLOSED"])
      assert.strictEqual(client.commands, 0)
    }))

  it.scoped("connects with the first command in the state wait", () =>
    Effect.gen(function*() {
      const { client, read } = yield* make("wait")
      yield* read
      assert.strictEqual(client.commands, 1)
    }))
})
