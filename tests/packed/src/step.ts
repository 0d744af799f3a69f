import { Console, Duration, Effect } from "effect"

/** Runs a step, and prints it with the time that it took. */
export const step = <A, E, R>(what: string, effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(
    Effect.timed(effect),
    ([time, value]) => Effect.as(Console.log(`ok  ${what}  ${Math.round(Duration.toSeconds(time))} s`), value)
  )
