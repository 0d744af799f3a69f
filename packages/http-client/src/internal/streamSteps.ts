import * as Cause from "effect/Cause"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import type { LazyArg } from "effect/Function"
import * as Option from "effect/Option"
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
): Stream.Stream<A, E> =>
  Stream.fromPull(Effect.map(Stream.toPull(stream), (pull) => {
    const { onElements, onEnd, onFailure } = makeSteps()
    let isEnded = false
    const step = Effect.matchCauseEffect(pull, {
      onSuccess: (chunk) => onElements(Chunk.toReadonlyArray(chunk)),
      onFailure: (cause) => {
        isEnded = Option.exists(Cause.failureOption(cause), Option.isNone)
        return isEnded ? onEnd : onFailure(Cause.map(cause, Option.getOrUndefined))
      }
    })
    return Effect.suspend(() =>
      isEnded
        ? Effect.fail(Option.none())
        : Effect.mapBoth(step, { onFailure: Option.some, onSuccess: Chunk.unsafeFromArray })
    )
  }))
