import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { LazyArg } from "effect/Function"
import * as Layer from "effect/Layer"

/** What a layer is built from, besides the ConfigProvider and the Clock. */
export interface Requirements {
  readonly services: ReadonlyArray<{ readonly key: string }>
  /** The program's own effect may require further services. */
  readonly hasMore?: boolean
}

/** A layer, and where what it built is found again. */
interface Variant<A, E, R> {
  /** By the next part: an object or a function, or a value of another type. The values of a ConfigProvider are released with it. */
  readonly byReference: WeakMap<object, Variant<A, E, R>>
  readonly byValue: Map<unknown, Variant<A, E, R>>
  layer: Layer.Layer<A, E, R> | undefined
  memoMap: Layer.MemoMap | undefined
}

const variant = <A, E, R>(): Variant<A, E, R> => ({
  byReference: new WeakMap(),
  byValue: new Map(),
  layer: undefined,
  memoMap: undefined
})

/** Services that differ between two uses of one layer in the same program. */
const ofOneUse = /\/(Scope|CurrentMemoMap|ParentSpan)$/

const isReference = (value: unknown): value is object => Object(value) === value

/**
 * A layer that is shared only where its configuration and its requirements are the same. Effect shares a layer by its reference alone:
 * a const that a `LayerMap`, a nested `provide` or a second `ManagedRuntime` builds with the ConfigProvider of another tenant would
 * return the tokens of the first one. What is built is released with its last user.
 */
export const sharedLayer = <A, E, R>(
  make: LazyArg<Layer.Layer<A, E, R>>,
  { hasMore = false, services }: Requirements
): Layer.Layer<A, E, R> => {
  const root = variant<A, E, R>()
  const find = (parts: ReadonlyArray<unknown>): Variant<A, E, R> => {
    let found = root
    for (const part of parts) {
      const { byReference, byValue } = found
      const known = isReference(part) ? byReference.get(part) : byValue.get(part)
      found = known ?? variant<A, E, R>()
      if (known === undefined) {
        if (isReference(part)) byReference.set(part, found)
        else byValue.set(part, found)
      }
    }
    return found
  }
  return Layer.fresh(Layer.scopedContext(Effect.gen(function*() {
    const context: Context.Context<R> = yield* Effect.context<R>()
    const provider = yield* Effect.configProviderWith(Effect.succeed)
    const required: ReadonlyArray<unknown> = hasMore
      // what is required is not known
      ? Array.from(context.unsafeMap).filter(([key]) => !ofOneUse.test(key)).flat()
      : services.map(({ key }) => context.unsafeMap.get(key))
    const found = find([provider, yield* Effect.clock, ...required])
    const scope = yield* Effect.scope
    const layer = found.layer ??= make()
    const build = Effect.flatMap(Layer.makeMemoMap, (fresh) => {
      const memoMap = found.memoMap ??= fresh
      return Effect.catchAllCause(Layer.buildWithMemoMap(layer, memoMap, scope), (cause) => {
        // the next use builds again, while a memo map would keep its failure
        if (found.memoMap === memoMap) found.memoMap = undefined
        return Effect.failCause(cause)
      })
    })
    // another use may have begun what this one waited for, and may have been interrupted
    return yield* Effect.catchAllCause(
      build,
      (cause) => Cause.isInterruptedOnly(cause) ? build : Effect.failCause(cause)
    )
  })))
}
