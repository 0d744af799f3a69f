import * as AccessTokens from "@credit-data/core/AccessTokens"
import { groups, readiness } from "@credit-data/core/Internal"
import * as TokenStatus from "@credit-data/core/TokenStatus"
import { type Door, makeDoor, type Sender } from "@credit-data/http-client/Internal"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import { setMaxListeners } from "node:events"
import type { Connection, Group, Status } from "../Connection.ts"
import { plain, tokenError } from "./plain.ts"
import { settle } from "./settle.ts"

/** What a connection is made of. */
export interface Parts {
  readonly supply: Layer.Layer<AccessTokens.AccessTokens, unknown>
  /** Sends the calls. */
  readonly sender: Sender
  /** Closes what the sender keeps. */
  readonly release: () => void
}

/** A client may be registered for one group only. The others reject, and name what is missing. */
const refusing = (error: unknown): Door => {
  const refuse = async () => {
    throw plain(error)
  }
  return { fetch: refuse, call: refuse }
}

/** Many calls may share a signal. Each listens to it while it waits for a token or a response, of which Node would warn. */
const share = (...given: ReadonlyArray<unknown>): void => {
  for (const each of given) {
    if (Predicate.hasProperty(each, "signal") && each.signal instanceof AbortSignal) setMaxListeners(0, each.signal)
  }
}

const dateOf = (time: Option.Option<DateTime.Utc>): Date | undefined =>
  Option.getOrUndefined(Option.map(time, DateTime.toDate))

const plainStatus = (status: TokenStatus.TokenStatus): Status => {
  const { clientId, expiresAt, failingSince, lastFailure, nextRequestAt, requestedAt, store: _, version, ...others } =
    status
  return {
    ...others,
    usable: TokenStatus.isUsable(status),
    clientId: Option.getOrUndefined(clientId),
    version: Option.getOrUndefined(version),
    requestedAt: dateOf(requestedAt),
    expiresAt: dateOf(expiresAt),
    nextRequestAt: dateOf(nextRequestAt),
    lastFailure: Option.getOrUndefined(Option.map(lastFailure, tokenError)),
    failingSince: dateOf(failingSince)
  }
}

/** Opens a connection. What was built is released when it closes, and when opening fails. */
export const open = async ({ release, sender, supply }: Parts): Promise<Connection> => {
  const scope = await settle(Scope.make())
  let closed: Promise<void> | undefined
  const close = () => closed ??= settle(Effect.ensuring(Scope.close(scope, Exit.void), Effect.sync(release)))
  const build = Effect.gen(function*() {
    const built = yield* Layer.build(supply)
    const doors = new Map<string, Door>()
    for (const { key, name, scope } of groups) {
      const door = makeDoor({ name, scope, sender, present: plain }).pipe(
        Effect.catchAll((error) => Effect.succeed(refusing(error))),
        Effect.provide(built)
      )
      doors.set(key, yield* door)
    }
    return { doors, tokens: yield* Effect.provide(AccessTokens.AccessTokens, built) }
  })
  try {
    const { doors, tokens } = await settle(Scope.extend(build, scope))
    const doorOf = (group: string): Door => {
      const door = doors.get(group)
      if (door === undefined) throw new TypeError(`Expected the group to be one of ${[...doors.keys()].join(", ")}`)
      return door
    }
    const fetchOf = (group: Group): typeof globalThis.fetch => {
      const { fetch } = doorOf(group)
      return (input, init) => {
        share(input, init)
        return fetch(input, init)
      }
    }
    return {
      dataAccess: fetchOf("dataAccess"),
      furnishment: fetchOf("furnishment"),
      enablementServices: fetchOf("enablementServices"),
      call: async (group, method, template, values, init) => {
        share(init)
        return doorOf(group).call(method, template, values, init)
      },
      token: () => settle(Effect.map(tokens.get, ({ secret }) => Redacted.value(secret))),
      ready: () => settle(Effect.map(readiness(tokens), ({ isReady }) => isReady)),
      status: () => settle(Effect.map(tokens.status, plainStatus)),
      close,
      [Symbol.asyncDispose]: close
    }
  } catch (error) {
    await close()
    throw error
  }
}
