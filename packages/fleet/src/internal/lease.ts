import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import { within } from "@credit-data/core/Internal"
import type * as TokenStore from "../TokenStore.ts"
import type { Entry } from "./entry.ts"
import type { Alone, Session, StoreAccess } from "./storeAccess.ts"

/** How long a lease lasts. It is short, because the others wait this long for a process that was killed. */
const leaseDuration = Duration.seconds(2)

/** How often a lease is renewed while the token request runs. */
const renewalInterval = Duration.millis(500)

/** The lease is given back within this time, because a scope that closes waits for it. */
const releaseTimeout = Duration.millis(250)

/** A lease that this process has, and the store's clock in milliseconds. */
export interface Held {
  readonly fence: number
  readonly now: () => number
}

/** What the attempt to take a lease showed. */
export interface Attempt {
  readonly lease: Option.Option<Held>
  readonly slots: TokenStore.Slots
}

interface Options {
  readonly store: TokenStore.Service
  readonly access: StoreAccess
  /** Milliseconds by a clock that is never set. */
  readonly millis: () => number
}

/** Takes the lease of an entry, renews it, and gives it back when the scope closes. */
export const take = (
  { access, millis, store }: Options,
  session: Session,
  run: Session["withinBudget"],
  { name }: Entry,
  fences: { readonly above: number; readonly seen: number }
): Effect.Effect<Attempt, Alone, Scope.Scope> =>
  Effect.uninterruptible(Effect.gen(function*() {
    const lease = { owner: crypto.randomUUID(), duration: leaseDuration }
    const taken = yield* run(store.takeLease(name, { ...lease, ...fences }))
    if (Option.isNone(taken.lease)) return { ...taken, lease: Option.none() }
    const { fence, takenAt } = taken.lease.value
    const at = millis()
    const renew = Effect.flatMap(access.session, (session) => session.withinBudget(store.renewLease(name, lease)))
    const keeper = yield* Effect.forkDaemon(
      Effect.interruptible(Effect.forever(Effect.delay(Effect.ignore(renew), renewalInterval)))
    )
    const giveBack = session.unhurried(store.releaseLease(name, lease.owner))
    yield* Effect.addFinalizer(() =>
      Effect.zipRight(Fiber.interrupt(keeper), giveBack.pipe(within(releaseTimeout, () => undefined), Effect.ignore))
    )
    return { slots: taken.slots, lease: Option.some({ fence, now: () => takenAt + millis() - at }) }
  }))
