import { StoreError } from "@credit-data/fleet/StoreError"
import { maxValueSize, type Service, type Slot, type StoredValue } from "@credit-data/fleet/TokenStore"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type { Cluster, Redis } from "ioredis"
import * as scripts from "./scripts.ts"

/** The last fence outlives every token. */
const fenceLife = Duration.toMillis("7 days")

/** The longest fence, and the colon after it. */
const prefixSize = 17

const isTimeout = (error: unknown) => Predicate.isError(error) && error.message === "Command timed out"

const storeError = (error: unknown): StoreError => {
  if (Predicate.isError(error) && error.name === "ReplyError") {
    return new StoreError({ reason: "Refused", code: /^[A-Z]+/.exec(error.message)?.[0] ?? "ERR" })
  }
  if (isTimeout(error)) {
    return new StoreError({ reason: "Timeout", code: "Timeout" })
  }
  const code = Predicate.hasProperty(error, "code") && Predicate.isString(error.code) ? error.code : "CLOSED"
  return new StoreError({ reason: "Unavailable", code })
}

const unavailable = () => new StoreError({ reason: "Unavailable", code: "CLOSED" })

/** Waits while the connection is being established. Does not wait for the next attempt after a failed one. */
const ready = (client: Redis | Cluster): Effect.Effect<void, StoreError> =>
  Effect.async((resume) => {
    if (client.status === "ready") return resume(Effect.void)
    if (client.status !== "connecting" && client.status !== "connect") return resume(Effect.fail(unavailable()))
    const onReady = () => resume(Effect.void)
    const onClose = () => resume(Effect.fail(unavailable()))
    client.once("ready", onReady)
    client.once("close", onClose)
    return Effect.sync(() => {
      client.off("ready", onReady)
      client.off("close", onClose)
    })
  })

const slotOf = (answer: unknown): Option.Option<StoredValue> => {
  if (!Array.isArray(answer)) return Option.none()
  const [value, left]: ReadonlyArray<unknown> = answer
  if (!Buffer.isBuffer(value) || typeof left !== "number") return Option.none()
  const colon = value.subarray(0, prefixSize).indexOf(":")
  const fence = value.subarray(0, Math.max(0, colon)).toString("latin1")
  const bytes = new Uint8Array(value.subarray(colon + 1))
  // only canonical decimal numbers, as this store writes them
  return /^[1-9]\d*$/.test(fence) && Number.isSafeInteger(Number(fence)) && bytes.length <= maxValueSize
    ? Option.some({ bytes, fence: Number(fence), remaining: Duration.millis(left) })
    : Option.none()
}

export const make = (
  client: Redis | Cluster,
  { isOwn, prefix }: { readonly isOwn: boolean; readonly prefix: string }
): Service => {
  const keys = (name: string) => {
    const tag = `${prefix}{${name}}`
    return { Token: `${tag}:token`, Failure: `${tag}:failure`, lease: `${tag}:lease`, fence: `${tag}:fence` }
  }
  const run = (
    script: string,
    keys: ReadonlyArray<string>,
    args: ReadonlyArray<string | number | Buffer>
  ): Effect.Effect<unknown, StoreError> =>
    Effect.zipRight(
      ready(client),
      Effect.tryPromise({
        try: (): Promise<unknown> =>
          client.callBuffer("EVAL", script, keys.length, ...keys, ...args).catch((error: unknown) => {
            // the connection may be dead, and a dead connection would not end by itself; that of the program is the program's affair
            if (isOwn && isTimeout(error)) client.disconnect(true)
            throw error
          }),
        catch: storeError
      })
    )
  const millis = (duration: Duration.Duration) => Math.max(1, Math.floor(Duration.toMillis(duration)))

  return {
    read: (name) => {
      const { Failure, Token } = keys(name)
      return Effect.map(run(scripts.read, [Token, Failure], [maxValueSize + prefixSize]), (answer) => {
        const [token, failure]: ReadonlyArray<unknown> = Array.isArray(answer) ? answer : []
        return { Token: slotOf(token), Failure: slotOf(failure) }
      })
    },
    takeLease: (name, { above, duration, owner }) => {
      const { Failure, Token, fence, lease } = keys(name)
      return Effect.map(
        run(scripts.takeLease, [lease, fence, Token, Failure], [owner, millis(duration), above, fenceLife]),
        (answer) => {
          const [next, micros]: ReadonlyArray<unknown> = Array.isArray(answer) ? answer : []
          return Buffer.isBuffer(next) && Buffer.isBuffer(micros)
            ? Option.some({ fence: Number(next.toString()), takenAt: Math.floor(Number(micros.toString()) / 1_000) })
            : Option.none()
        }
      )
    },
    renewLease: (name, { duration, owner }) =>
      Effect.map(run(scripts.renewLease, [keys(name).lease], [owner, millis(duration)]), (answer) => answer === 1),
    releaseLease: (name, owner) => Effect.asVoid(run(scripts.releaseLease, [keys(name).lease], [owner])),
    publish: (name, slot: Slot, { bytes, expiresAt, fence }) =>
      Effect.map(
        run(scripts.publish, [keys(name)[slot]], [fence, Buffer.from(bytes), Math.floor(expiresAt)]),
        (answer) => answer === 1
      )
  }
}
