import type { StoreError } from "@credit-data/fleet/StoreError"
import { maxValueSize, type Service, type Slot, type Slots, type StoredValue } from "@credit-data/fleet/TokenStore"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type { Cluster, Redis } from "ioredis"
import { codeOf, storeError } from "./causes.ts"
import * as scripts from "./scripts.ts"

/** The last fence outlives every token. */
const fenceLife = Duration.toMillis("7 days")

/** The longest fence, and the colon after it. */
const prefixSize = 17
const maxStoredSize = maxValueSize + prefixSize

const isTimeout = (error: unknown) => Predicate.isError(error) && error.message === "Command timed out"

/**
 * Waits while the connection is being established. Does not wait for the next attempt after a failed one. The driver reports the cause of
 * a failed attempt as an event, and a closed connection to the operation.
 */
const ready = (client: Redis | Cluster, lastCode: () => string | undefined): Effect.Effect<void, StoreError> =>
  Effect.async((resume) => {
    const closed = () => Effect.fail(storeError("Unavailable", lastCode() ?? "CLOSED"))
    // in the state "wait", the first command connects
    if (client.status === "ready" || client.status === "wait") return resume(Effect.void)
    if (client.status !== "connecting" && client.status !== "connect") return resume(closed())
    const onReady = () => resume(Effect.void)
    const onClose = () => resume(closed())
    client.once("ready", onReady)
    client.once("close", onClose)
    return Effect.sync(() => {
      client.off("ready", onReady)
      client.off("close", onClose)
    })
  })

const slotOf = (result: unknown): Option.Option<StoredValue> => {
  if (!Array.isArray(result)) return Option.none()
  const [value, left]: ReadonlyArray<unknown> = result
  if (!Buffer.isBuffer(value) || typeof left !== "number") return Option.none()
  const colon = value.subarray(0, prefixSize).indexOf(":")
  const fence = value.subarray(0, Math.max(0, colon)).toString("latin1")
  const bytes = new Uint8Array(value.subarray(colon + 1))
  // only canonical decimal numbers, as this store writes them
  return /^[1-9]\d*$/.test(fence) && Number.isSafeInteger(Number(fence)) && bytes.length <= maxValueSize
    ? Option.some({ bytes, fence: Number(fence), remaining: Duration.millis(left) })
    : Option.none()
}

const slotsOf = (result: unknown): Slots => {
  const [token, failure]: ReadonlyArray<unknown> = Array.isArray(result) ? result : []
  return { Token: slotOf(token), Failure: slotOf(failure) }
}

export const make = (
  client: Redis | Cluster,
  { isOwn, lastCode, prefix }: {
    /** Not for a connection of the program. */
    readonly isOwn: boolean
    /** Why the connection failed the last time. */
    readonly lastCode: () => string | undefined
    readonly prefix: string
  }
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
      ready(client, lastCode),
      Effect.tryPromise({
        try: (): Promise<unknown> =>
          client.callBuffer("EVAL", script, keys.length, ...keys, ...args).catch((error: unknown) => {
            // the connection may be dead, and a dead connection would not end by itself; the program's own connection is its own
            // affair
            if (isOwn && isTimeout(error)) client.disconnect(true)
            throw error
          }),
        catch: (error) =>
          Predicate.isError(error) && error.name === "ReplyError"
            ? storeError("Refused", codeOf(error) ?? "ERR")
            : isTimeout(error)
            ? storeError("Timeout", "Timeout")
            : storeError("Unavailable", codeOf(error) ?? lastCode() ?? "CLOSED")
      })
    )
  const millis = (duration: Duration.Duration) => Math.max(1, Math.floor(Duration.toMillis(duration)))

  return {
    read: (name) => {
      const { Failure, Token } = keys(name)
      return Effect.map(run(scripts.read, [Token, Failure], [maxStoredSize]), slotsOf)
    },
    takeLease: (name, { above, duration, owner, seen }) => {
      const { Failure, Token, fence, lease } = keys(name)
      return Effect.map(
        run(
          scripts.takeLease,
          [Token, Failure, lease, fence],
          [maxStoredSize, owner, millis(duration), above, seen, fenceLife]
        ),
        (result) => {
          const [, , next, micros]: ReadonlyArray<unknown> = Array.isArray(result) ? result : []
          return {
            slots: slotsOf(result),
            lease: Buffer.isBuffer(next) && Buffer.isBuffer(micros)
              ? Option.some({ fence: Number(next.toString()), takenAt: Math.floor(Number(micros.toString()) / 1_000) })
              : Option.none()
          }
        }
      )
    },
    renewLease: (name, { duration, owner }) =>
      Effect.map(run(scripts.renewLease, [keys(name).lease], [owner, millis(duration)]), (result) => result === 1),
    releaseLease: (name, owner) => Effect.asVoid(run(scripts.releaseLease, [keys(name).lease], [owner])),
    publish: (name, slot: Slot, { bytes, expiresAt, fence }) =>
      Effect.map(
        run(scripts.publish, [keys(name)[slot]], [fence, Buffer.from(bytes), Math.floor(expiresAt)]),
        (result) => result === 1
      )
  }
}
