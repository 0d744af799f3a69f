import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { LazyArg } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"

/** What a layer is built from, besides the ConfigProvider. */
export interface Requirements {
  readonly services: ReadonlyArray<Context.Key<unknown, object>>
  /** The program's own effect may require further services. */
  readonly hasMore?: boolean
}

/** The variants of a layer, by the objects that it is built from. */
interface Variants<L> {
  readonly next: WeakMap<object, Variants<L>>
  layer: L | undefined
}

const noVariants = <L>(): Variants<L> => ({ next: new WeakMap(), layer: undefined })

const absent = {}

/**
 * A layer that is reused only where its configuration and its requirements are the same. A nested `provide` of Effect 4 would also reuse
 * it where they differ, and a program would use the token of another client.
 */
export const sharedLayer = <A, E, R>(
  make: LazyArg<Layer.Layer<A, E, R>>,
  { hasMore = false, services }: Requirements
): Layer.Layer<A, E, R> => {
  const all = noVariants<Layer.Layer<A, E, R>>()
  const variantOf = (objects: ReadonlyArray<object>): Layer.Layer<A, E, R> => {
    const variants = objects.reduce<Variants<Layer.Layer<A, E, R>>>((current, object) => {
      const known = current.next.get(object) ?? noVariants<Layer.Layer<A, E, R>>()
      current.next.set(object, known)
      return known
    }, all)
    if (variants.layer === undefined) {
      const layer = make()
      // the identity by which Effect finds what was built
      variants.layer = Layer.fromBuildMemo((memoMap, scope) => Layer.buildWithMemoMap(layer, memoMap, scope))
    }
    return variants.layer
  }
  return Layer.fromBuild((memoMap, scope) =>
    Effect.flatMap(
      Effect.all([ConfigProvider.ConfigProvider, Effect.context<R>()]),
      ([provider, context]) =>
        Layer.buildWithMemoMap(
          variantOf([
            provider,
            ...services.map((service) => Option.getOrElse(Context.getOption(context, service), () => absent)),
            // what is required is not known, so nothing is reused from outside
            ...(hasMore ? [memoMap] : [])
          ]),
          memoMap,
          scope
        )
    )
  )
}
