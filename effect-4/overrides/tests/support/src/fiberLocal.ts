import { Context, Effect } from "effect"

/** A value that a fiber reads without naming it in its type. */
export const fiberLocal = (initial: string) => {
  const reference = Context.Reference(`fiberLocal ${initial}`, { defaultValue: () => initial })
  return {
    get: Effect.service(reference),
    locally: (value: string) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.provideService(effect, reference, value)
  }
}
