import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import type { LazyArg } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"

/** What was built from these parts. */
interface Shared<A, E, R> {
  readonly parts: ReadonlyArray<unknown>
  readonly layer: Layer.Layer<A, E, R>
  readonly memoMap: Layer.MemoMap
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
  const all = new Map<string, ReadonlyArray<Shared<A, E, R>>>()
  const forget = (key: string, shared: Shared<A, E, R>): void => {
    const others = all.get(key)?.filter((each) => each !== shared) ?? []
    if (others.length === 0) all.delete(key)
    else all.set(key, others)
  }
  return (
    parts: ReadonlyArray<unknown>,
    make: LazyArg<Layer.Layer<A, E, R>>
  ): Effect.Effect<Context.Context<A>, E, R | Scope.Scope> => {
    const key = JSON.stringify(parts.map(keyOf))
    const build = Effect.gen(function*() {
      const scope = yield* Effect.scope
      const memoMap = yield* Layer.makeMemoMap
      const shared = yield* Effect.acquireRelease(
        Effect.sync(() => {
          const known = all.get(key) ?? []
          const found = known.find((each) => areSame(each.parts, parts)) ?? { parts, layer: make(), memoMap, users: 0 }
          if (!known.includes(found)) all.set(key, [...known, found])
          found.users++
          return found
        }),
        (used) =>
          Effect.sync(() => {
            used.users--
            if (used.users === 0) forget(key, used)
          })
      )
      return yield* Effect.onError(
        Layer.buildWithMemoMap(shared.layer, shared.memoMap, scope),
        // its memo map would keep the failure
        () => Effect.sync(() => forget(key, shared))
      )
    })
    // another use may have begun what this one waited for, and may have been interrupted
    return Effect.catchAllCause(build, (cause) => Cause.isInterruptedOnly(cause) ? build : Effect.failCause(cause))
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
