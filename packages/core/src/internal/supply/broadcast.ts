import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"

/** Hands values to all listeners. Listeners never block the publisher: slow listeners lose the oldest values. */
export interface Broadcast<A> {
  /** Costs nothing when nobody listens: the value isn't made then. */
  readonly publish: (value: () => A) => Effect.Effect<void>
  /** The values from the moment on at which the stream runs, until the scope of the broadcast is closed. */
  readonly stream: Stream.Stream<A>
}

/**
 * Keeps as many values as it is told for each listener. (Effect's PubSub does the same, and all else that it can would be
 * a seventh of what a program brings along for its tokens.)
 */
export const make = Effect.fnUntraced(
  function*<A>(capacity: number): Effect.fn.Return<Broadcast<A>, never, Scope.Scope> {
    const listeners = new Set<Queue.Queue<A>>()
    let isOpen = true
    yield* Effect.addFinalizer(() => {
      isOpen = false
      return Effect.forEach(listeners, Queue.shutdown, { discard: true })
    })

    const listener = Effect.acquireRelease(
      Effect.tap(Queue.sliding<A>(capacity), (queue) => Effect.sync(() => listeners.add(queue))),
      (queue) => {
        listeners.delete(queue)
        return Queue.shutdown(queue)
      }
    )
    return {
      publish: (value) =>
        Effect.suspend(() => {
          if (listeners.size === 0) return Effect.void
          const published = value()
          // a listener that leaves now has shut its queue down, and an offer to that would interrupt the publisher
          return Effect.forEach(listeners, (queue) => Effect.exit(Queue.offer(queue, published)), { discard: true })
        }),
      stream: Stream.unwrapScoped(
        Effect.suspend(() =>
          isOpen ? Effect.map(listener, (queue) => Stream.fromQueue(queue)) : Effect.succeed(Stream.empty)
        )
      )
    }
  }
)
