import type * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type { LazyArg } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"

// Where a layer is built again instead of shared.

/** What was built from the same sources, or is being built. */
interface Shared<A, E> {
  readonly context: Deferred.Deferred<Context.Context<A>, E>
  /** Closed by the last use. The scope of the use that began the build may end before. */
  readonly scope: Scope.CloseableScope
  users: number
}

/** A map whose keys are lists, compared element by element by identity. */
class ListMap<A> {
  readonly #rest = new Map<unknown, ListMap<A>>()
  #value: A | undefined

  get(list: ReadonlyArray<unknown>): A | undefined {
    return list.length === 0 ? this.#value : this.#rest.get(list[0])?.get(list.slice(1))
  }

  set(list: ReadonlyArray<unknown>, value: A | undefined): void {
    if (list.length === 0) {
      this.#value = value
      return
    }
    const rest = this.#rest.get(list[0]) ?? new ListMap<A>()
    rest.set(list.slice(1), value)
    if (rest.#value === undefined && rest.#rest.size === 0) this.#rest.delete(list[0])
    else this.#rest.set(list[0], rest)
  }
}

/**
 * A layer whose uses share what is built where it reads from the same objects: the ConfigProvider, the Clock and these services. Effect
 * shares a layer by its reference alone: a const that a `LayerMap`, a nested `provide` or a second `ManagedRuntime` builds with the
 * services of another tenant would return what belongs to the first one. What is built is released with its last use, and a failure is not
 * kept.
 *
 * `RcMap` of Effect 3.22 would do this, but it looks up a key outside of its semaphore: two uses that begin together can build twice.
 */
export const sharedLayer = <A, E, R>(
  make: LazyArg<Layer.Layer<A, E, R>>,
  { services }: { readonly services: ReadonlyArray<{ readonly key: string }> }
): Layer.Layer<A, E, R> => {
  const all = new ListMap<Shared<A, E>>()

  const forget = (sources: ReadonlyArray<unknown>, shared: Shared<A, E>): void => {
    if (all.get(sources) === shared) all.set(sources, undefined)
  }

  const join = Effect.gen(function*() {
    const context: Context.Context<R> = yield* Effect.context<R>()
    const sources = [
      yield* Effect.configProviderWith(Effect.succeed),
      yield* Effect.clock,
      ...services.map(({ key }) => context.unsafeMap.get(key))
    ]
    const own: Shared<A, E> = {
      context: yield* Deferred.make<Context.Context<A>, E>(),
      scope: yield* Scope.make(),
      users: 1
    }
    const found = all.get(sources)
    if (found !== undefined) {
      found.users++
      return { shared: found, sources }
    }
    all.set(sources, own)
    // on Effect 4, a fiber that is interrupted before its first step completes nothing
    yield* Scope.addFinalizer(own.scope, Deferred.interrupt(own.context))
    // in a fiber, because the use that begins it may be interrupted while others wait for it
    const build = Effect.suspend(() => Layer.buildWithScope(make(), own.scope)).pipe(
      Effect.interruptible,
      Effect.onError(() => Effect.sync(() => forget(sources, own)))
    )
    yield* Effect.forkIn(Effect.intoDeferred(build, own.context), own.scope)
    return { shared: own, sources }
  })

  const leave = (
    { shared, sources }: { readonly shared: Shared<A, E>; readonly sources: ReadonlyArray<unknown> },
    exit: Exit.Exit<unknown, unknown>
  ): Effect.Effect<void> =>
    Effect.suspend(() => {
      shared.users--
      if (shared.users > 0) return Effect.void
      forget(sources, shared)
      return Scope.close(shared.scope, exit)
    })

  return Layer.fresh(Layer.scopedContext(
    Effect.flatMap(Effect.acquireRelease(join, leave), ({ shared }) => Deferred.await(shared.context))
  ))
}
