import type { LazyArg } from "effect/Function"
import type * as Layer from "effect/Layer"

/** What a layer is built from, besides the ConfigProvider. */
export interface Requirements {
  readonly services: ReadonlyArray<{ readonly key: string }>
  /** The program's own effect may require further services. */
  readonly hasMore?: boolean
}

/**
 * A layer that is reused only where its configuration and its requirements are the same. (A nested `provide` of Effect 3
 * builds each layer again, so there is nothing to do. Effect 4 reuses the layers that were built outside.)
 */
export const sharedLayer = <A, E, R>(
  make: LazyArg<Layer.Layer<A, E, R>>,
  _requirements: Requirements
): Layer.Layer<A, E, R> => make()
