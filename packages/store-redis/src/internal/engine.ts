import type { StoreError } from "@credit-data/fleet/StoreError"
import { type Look, maxValueSize, type Service, type Value } from "@credit-data/fleet/TokenStore"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type { Cluster, Redis } from "ioredis"
import { codeOf, replyError, storeError } from "./causes.ts"
import { scripts } from "./scripts.ts"

/** The longest fence, and the colon after it. */
const prefixSize = 17
const maxStoredSize = maxValueSize + prefixSize

/**
 * Waits while the connection is being established, and not for the next attempt after a failed one. The driver reports its end as an event,
 * so the wait does not depend on the program's clock.
 */
const makeReady = (client: Redis | Cluster): Effect.Effect<boolean> => {
  // one for all operations that wait, because a connection accepts only a few listeners
  let attempt: Promise<void> | undefined
  const ended = () =>
    new Promise<void>((resolve) => {
      const end = () => {
        client.off("ready", end).off("close", end)
        attempt = undefined
        resolve()
      }
      client.on("ready", end).on("close", end)
    })
  return Effect.promise(async () => {
    if (client.status === "connecting" || client.status === "connect") await (attempt ??= ended())
    // in the state "wait", the first command connects
    return client.status === "ready" || client.status === "wait"
  })
}

// A reply is none if no script of this store returns it.

/** The driver returns a number as a number, as text or as bytes, by its options. */
const numberOf = (reply: unknown): Option.Option<number> => {
  const text = Buffer.isBuffer(reply) ? reply.toString("latin1") : String(reply)
  return /^(0|[1-9]\d{0,15})$/.test(text) ? Option.some(Number(text)) : Option.none()
}

const doneOf = (reply: unknown): Option.Option<boolean> =>
  Option.map(Option.filter(numberOf(reply), (number) => number <= 1), (number) => number === 1)

const valueOf = (reply: unknown): Option.Option<Look["value"]> => {
  if (reply === null) return Option.some(Option.none())
  if (!Buffer.isBuffer(reply)) return Option.none()
  const colon = reply.subarray(0, prefixSize).indexOf(":")
  const fence = reply.subarray(0, Math.max(0, colon)).toString("latin1")
  const value: Value = { bytes: new Uint8Array(reply.subarray(colon + 1)), fence: Number(fence) }
  // only canonical decimal numbers, as this store writes them
  const isValid = /^[1-9]\d*$/.test(fence) && Number.isSafeInteger(value.fence) && value.bytes.length <= maxValueSize
  return Option.some(isValid ? Option.some(value) : Option.none())
}

const lookOf = (reply: unknown, size = 2): Option.Option<Look> =>
  Array.isArray(reply) && reply.length === size
    ? Option.all({ value: valueOf(reply[0]), now: numberOf(reply[1]) })
    : Option.none()

const takenOf = (reply: unknown) =>
  Option.flatMap(
    lookOf(reply, 3),
    (look) => Option.map(doneOf(Array.isArray(reply) ? reply[2] : undefined), (isTaken) => ({ ...look, isTaken }))
  )

/** A command that `defineCommand` has added to the connection. */
const isCommand = (value: unknown): value is (...args: ReadonlyArray<string | number | Buffer>) => Promise<unknown> =>
  Predicate.isFunction(value)

export interface Options {
  /** Why the connection failed the last time. */
  readonly lastCode: () => string | undefined
  /** What to do when Redis rejects the password. Absent for a connection of the program, whose settings are the program's own. */
  readonly onRejected: Effect.Effect<void> | undefined
  readonly prefix: string
}

export const make = (client: Redis | Cluster, { lastCode, onRejected, prefix }: Options): Service => {
  // reading needs one key only: while a slot moves, a cluster refuses operations on two keys
  const kindsOf = (script: string) => script === "Read" ? ["value"] : ["value", "lease"]
  for (const [name, lua] of Object.entries(scripts)) {
    client.defineCommand(`creditData${name}`, { lua, numberOfKeys: kindsOf(name).length })
  }
  const isReady = makeReady(client)
  const failure = (error: unknown): StoreError => {
    if (!Predicate.isError(error)) return storeError("Unavailable", lastCode() ?? "CLOSED")
    if (error.name === "ReplyError") return replyError(error)
    if (error.message !== "Command timed out") return storeError("Unavailable", codeOf(error) ?? lastCode() ?? "CLOSED")
    // the connection may be dead, and a dead connection would not end by itself
    if (onRejected !== undefined) client.disconnect(true)
    return storeError("Timeout", "Timeout")
  }
  const run = <A>(
    script: keyof typeof scripts,
    name: string,
    args: ReadonlyArray<string | number | Buffer>,
    decode: (reply: unknown) => Option.Option<A>
  ): Effect.Effect<A, StoreError> =>
    Effect.filterOrFail(isReady, Boolean, () => storeError("Unavailable", lastCode() ?? "CLOSED")).pipe(
      Effect.zipRight(Effect.tryPromise({
        try: async () => {
          const command: unknown = Reflect.get(client, `creditData${script}Buffer`)
          const keys = kindsOf(script).map((kind) => `${prefix}{${name}}:${kind}`)
          return decode(isCommand(command) ? await command.call(client, ...keys, ...args) : undefined)
        },
        catch: failure
      })),
      Effect.flatMap(Option.match({
        onNone: () => Effect.fail(storeError("Refused", "REPLY")),
        onSome: (reply) => Effect.succeed(reply)
      })),
      Effect.tapError(({ code }) => /^(WRONGPASS|NOAUTH)$/.test(code) ? onRejected ?? Effect.void : Effect.void)
    )

  return {
    read: (name) => run("Read", name, [maxStoredSize], (reply) => lookOf(reply)),
    takeLease: (name, { duration, owner, seen }) =>
      run("TakeLease", name, [maxStoredSize, owner, Math.ceil(Duration.toMillis(duration)), seen], takenOf),
    releaseLease: (name, owner) => Effect.asVoid(run("ReleaseLease", name, [owner], doneOf)),
    publish: (name, { bytes, expiresAt, fence, owner }) =>
      run("Publish", name, [fence, Buffer.from(bytes), Math.floor(expiresAt), owner], doneOf)
  }
}
