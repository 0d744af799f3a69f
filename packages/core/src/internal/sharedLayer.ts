import type * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import type * as Exit from "effect/Exit"
import type { LazyArg } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"

/** What was built from these parts, or is being built. */
interface Shared<A, E> {
  readonly parts: ReadonlyArray<unknown>
  readonly context: Deferred.Deferred<Context.Context<A>, E>
  /** Closed by the last use. The scope of the use that began the build may end before. */
  readonly scope: Scope.CloseableScope
  users: number
}

const isReference = (part: unknown): part is object => Object(part) === part

const ids = new WeakMap<object, number>()
let lastId = 0

/** What stands for a part in a key: its kind with its text, or the number of an object. A secret is in no key. */
const keyOf = (part: unknown): string => {
  if (Redacted.isRedacted(part)) return "secret"
  if (!isReference(part)) return `${typeof part} ${String(part)}`
  const id = ids.get(part) ?? ++lastId
  ids.set(part, id)
  return `object ${id}`
}

const areSame = (a: ReadonlyArray<unknown>, b: ReadonlyArray<unknown>): boolean =>
  a.every((part, index) => !Redacted.isRedacted(part) || Equal.equals(part, b[index]))

/**
 * Builds a layer once for each different list of parts, by value for texts and secrets and by reference for everything else. What is built
 * is released with its last user, and a failure is not kept.
 */
export const makeShared = <A, E, R>() => {
  /** By the key of the parts. A list, because secrets are in no key. */
  const all = new Map<string, ReadonlyArray<Shared<A, E>>>()
  const forget = (key: string, shared: Shared<A, E>): void => {
    const others = all.get(key)?.filter((each) => each !== shared) ?? []
    if (others.length === 0) all.delete(key)
    else all.set(key, others)
  }
  return (
    parts: ReadonlyArray<unknown>,
    make: LazyArg<Layer.Layer<A, E, R>>
  ): Effect.Effect<Context.Context<A>, E, R | Scope.Scope> => {
    const key = JSON.stringify(parts.map(keyOf))
    const join = Effect.gen(function*() {
      const context = yield* Deferred.make<Context.Context<A>, E>()
      const own: Shared<A, E> = { parts, context, scope: yield* Scope.make(), users: 1 }
      const known = all.get(key) ?? []
      const found = known.find((each) => areSame(each.parts, parts))
      if (found !== undefined) {
        found.users++
        return found
      }
      all.set(key, [...known, own])
      // in a fiber, because the use that begins it may be interrupted while others wait for it
      const build = Effect.suspend(() => Layer.buildWithScope(make(), own.scope)).pipe(
        Effect.interruptible,
        Effect.onError(() => Effect.sync(() => forget(key, own)))
      )
      yield* Effect.forkIn(Effect.intoDeferred(build, context), own.scope)
      return own
    })
    const leave = (shared: Shared<A, E>, exit: Exit.Exit<unknown, unknown>) =>
      Effect.suspend(() => {
        shared.users--
        if (shared.users > 0) return Effect.void
        forget(key, shared)
        return Scope.close(shared.scope, exit)
      })
    return Effect.flatMap(Effect.acquireRelease(join, leave), ({ context }) => Deferred.await(context))
  }
}

/**
 * A layer that is shared only where the ConfigProvider, the Clock and these services are the same. Effect shares a layer by its
 * reference alone: a const that a `LayerMap`, a nested `provide` or a second `ManagedRuntime` builds with the services of another tenant would
 * return what belongs to the first one.
 */
export const sharedLayer = <A, E, R>(
  make: LazyArg<Layer.Layer<A, E, R>>,
  { services }: { readonly services: ReadonlyArray<{ readonly key: string }> }
): Layer.Layer<A, E, R> => {
  const shared = makeShared<A, E, R>()
  return Layer.fresh(Layer.scopedContext(Effect.gen(function*() {
    const context: Context.Context<R> = yield* Effect.context<R>()
    const provider = yield* Effect.configProviderWith(Effect.succeed)
    const clock = yield* Effect.clock
    return yield* shared([provider, clock, ...services.map(({ key }) => context.unsafeMap.get(key))], make)
  })))
}
