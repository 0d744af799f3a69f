import type { StoreError } from "@credit-data/fleet/StoreError"
import type { Look, Service, Value } from "@credit-data/fleet/StoreEngine"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type { RedisClient } from "../RedisClient.ts"
import { codeOf, isReplyError, replyError, storeError } from "./causes.ts"
import { longestFence, scripts } from "./scripts.ts"

/**
 * Waits while the connection is being established, and not for the next attempt after a failed one. The driver reports its end as an event,
 * so the wait does not depend on the program's clock.
 */
const makeReady = (client: RedisClient): Effect.Effect<boolean> => {
  // one for all operations that wait, because a connection accepts only a few listeners
  let attempt: Promise<void> | undefined
  const ended = () =>
    new Promise<void>((resolve) => {
      const end = () => {
        for (const event of ["ready", "close"]) client.off(event, end)
        attempt = undefined
        resolve()
      }
      for (const event of ["ready", "close"]) client.on(event, end)
    })
  return Effect.promise(async () => {
    if (client.status === "connecting" || client.status === "connect") await (attempt ??= ended())
    // in the state "wait", the first command connects
    return client.status === "ready" || client.status === "wait"
  })
}

const textOf = (reply: unknown): string => Buffer.isBuffer(reply) ? reply.toString("latin1") : ""

const valueOf = (reply: unknown): Option.Option<Value> => {
  if (!Buffer.isBuffer(reply)) return Option.none()
  const [prefix, fence] = /^([1-9]\d*):/.exec(textOf(reply.subarray(0, longestFence + 1))) ?? []
  return prefix === undefined
    ? Option.none()
    : Option.some({ bytes: new Uint8Array(reply.subarray(prefix.length)), fence: Number(fence) })
}

/** What a script has returned, or nothing if no script of this store returns it. */
const resultOf = (reply: unknown): Option.Option<Look & { readonly isDone: boolean }> => {
  if (!Array.isArray(reply) || reply.length !== 3) return Option.none()
  const [value, now, isDone] = [valueOf(reply[0]), textOf(reply[1]), textOf(reply[2])]
  const isExpected = (reply[0] === null || Option.isSome(value)) && /^\d{1,16}$/.test(now) && /^[01]$/.test(isDone)
  return isExpected ? Option.some({ value, now: Number(now), isDone: isDone === "1" }) : Option.none()
}

export interface Options {
  /** Why the connection failed the last time. */
  readonly lastCode: () => string | undefined
  /** What to do when Redis rejects the password. Absent for a connection of the program, whose settings are the program's own. */
  readonly onRejected: Effect.Effect<void> | undefined
  readonly prefix: string
}

export const make = (client: RedisClient, { lastCode, onRejected, prefix }: Options): Service => {
  // reading needs one key only: while a slot moves, a cluster refuses operations on two keys
  const kindsOf = (script: string) => script === "Read" ? ["value"] : ["value", "lease"]
  for (const [name, lua] of Object.entries(scripts)) {
    client.defineCommand(`creditData${name}`, { lua, numberOfKeys: kindsOf(name).length })
  }
  const isReady = makeReady(client)
  // the driver reports why as an event, and a closed connection to the operation
  const failure = (error?: unknown): StoreError => {
    if (isReplyError(error)) return replyError(error)
    const code = codeOf(error) ?? lastCode() ?? "CLOSED"
    return storeError(code === "Timeout" ? "Timeout" : "Unavailable", code)
  }
  const run = (script: keyof typeof scripts, name: string, ...args: ReadonlyArray<string | number | Buffer>) =>
    Effect.filterOrFail(isReady, Boolean, () => failure()).pipe(
      Effect.zipRight(Effect.tryPromise({
        try: async () => {
          const command: unknown = Reflect.get(client, `creditData${script}Buffer`)
          const keys = kindsOf(script).map((kind) => `${prefix}{${name}}:${kind}`)
          return resultOf(
            Predicate.isFunction(command) ? await Reflect.apply(command, client, [...keys, ...args]) : null
          )
        },
        catch: failure
      })),
      Effect.flatMap(Option.match({
        onNone: () => Effect.fail(storeError("Refused", "REPLY")),
        onSome: (result) => Effect.succeed(result)
      })),
      Effect.tapError(({ code }) => /^(WRONGPASS|NOAUTH)$/.test(code) ? onRejected ?? Effect.void : Effect.void)
    )

  return {
    read: (name) => run("Read", name),
    takeLease: (name, { duration, owner, seen }) =>
      Effect.map(
        run("TakeLease", name, owner, Math.ceil(Duration.toMillis(duration)), seen),
        ({ isDone, ...look }) => ({ ...look, isTaken: isDone })
      ),
    releaseLease: (name, owner) => Effect.asVoid(run("ReleaseLease", name, owner)),
    publish: (name, { bytes, expiresAt, fence, owner }) =>
      Effect.map(
        run("Publish", name, fence, Buffer.from(bytes), Math.floor(expiresAt), owner),
        ({ isDone }) => isDone
      )
  }
}
