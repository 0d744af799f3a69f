import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"

/** Sends values to all listeners. Listeners never block the publisher: slow listeners lose the oldest values. */
export interface Broadcast<A> {
  /** Without listeners, the value is not made. */
  readonly publish: (value: () => A) => Effect.Effect<void>
  /** The values from the moment the stream starts to run, until the scope of the broadcast is closed. */
  readonly stream: Stream.Stream<A>
}

/** Keeps up to `capacity` values for each listener. Effect's PubSub would make the bundle of a program with one client larger. */
export const make = Effect.fnUntraced(
  function*<A>(capacity: number): Effect.fn.Return<Broadcast<A>, never, Scope.Scope> {
    const listeners = new Set<Queue.Queue<A>>()
    let isOpen = true
    yield* Effect.addFinalizer(() => {
      isOpen = false
      return Effect.forEach(listeners, Queue.shutdown, { discard: true })
    })

    const listener = Effect.acquireRelease(
      Effect.tap(Queue.sliding<A>(capacity), (queue) => {
        // the scope may have been closed since the stream started
        if (!isOpen) return Queue.shutdown(queue)
        listeners.add(queue)
        return Effect.void
      }),
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
          return Effect.forEach(listeners, (queue) =>
            // a listener that leaves now has shut down its queue, which would interrupt the publisher
            Effect.exit(Queue.offer(queue, published)), { discard: true })
        }),
      stream: Stream.unwrapScoped(Effect.map(listener, (queue) => Stream.fromQueue(queue)))
    }
  }
)
