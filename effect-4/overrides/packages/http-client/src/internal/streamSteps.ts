import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type { LazyArg } from "effect/Function"
import * as Pull from "effect/Pull"
import * as Stream from "effect/Stream"

/** What each pull of a stream becomes. */
export interface Steps<A, E> {
  readonly onElements: (elements: ReadonlyArray<A>) => Effect.Effect<ReadonlyArray<A>, E>
  /** The last elements. */
  readonly onEnd: Effect.Effect<ReadonlyArray<A>, E>
  readonly onFailure: (cause: Cause.Cause<unknown>) => Effect.Effect<never, E>
}

/** A stream whose pulls go through these steps, which are made anew for each run of the stream. */
export const throughSteps = <A, E>(
  stream: Stream.Stream<A, unknown>,
  makeSteps: LazyArg<Steps<A, E>>
): Stream.Stream<A, Pull.ExcludeDone<E>> =>
  Stream.transformPull(stream, (pull) => {
    const { onElements, onEnd, onFailure } = makeSteps()
    let isEnded = false
    const step = Effect.matchCauseEffect(pull, {
      onSuccess: onElements,
      onFailure: (cause) => {
        isEnded = Pull.isDoneCause(cause)
        return isEnded ? onEnd : onFailure(cause)
      }
    })
    // a pull has at least one element
    const next: Pull.Pull<Arr.NonEmptyReadonlyArray<A>, E> = Effect.suspend(() =>
      isEnded
        ? Cause.done()
        : Effect.flatMap(step, (elements) => Arr.isReadonlyArrayNonEmpty(elements) ? Effect.succeed(elements) : next)
    )
    return Effect.succeed(next)
  })
