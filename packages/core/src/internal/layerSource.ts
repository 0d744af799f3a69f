import * as Effect from "effect/Effect"
import { isolated } from "./isolated.ts"

// Where a layer reads from again and again: an effect that needs no service, or one that names its service.

/** The tag of a service. */
export type Tag<I, S> = Effect.Effect<S, never, I> & { readonly key: string }

/** A value that is read with a service. */
export interface FromService<out A, out E, out R> {
  /** The service, by which uses of a layer share what is built. */
  readonly service: { readonly key: string }
  /** Gets the service, and returns the effect that reads with it. */
  readonly reader: Effect.Effect<Effect.Effect<A, E>, never, R>
}

export type Source<A, E, R> = Effect.Effect<A, E> | FromService<A, E, R>

export const fromService = <I, S, A, E>(
  service: Tag<I, S>,
  read: (service: S) => Effect.Effect<A, E>
): FromService<A, E, I> => ({ service, reader: Effect.map(service, (found) => Effect.suspend(() => read(found))) })

/** What a source names. */
export const servicesOf = (source: Source<unknown, unknown, unknown>): ReadonlyArray<{ readonly key: string }> =>
  Effect.isEffect(source) ? [] : [source.service]

/** The effect that reads from a source with what the source names and the present ConfigProvider, wherever it is run. */
export const readerOf = <A, E, R>(source: Source<A, E, R>): Effect.Effect<Effect.Effect<A, E>, never, R> =>
  Effect.flatMap(Effect.configProviderWith(Effect.succeed), (provider) =>
    Effect.map(
      Effect.isEffect(source) ? Effect.succeed(source) : source.reader,
      (read) => isolated(read).pipe(Effect.withConfigProvider(provider))
    ))

/** Reads, and then runs an effect that can refuse what was read. */
export const followedBy = <A, E, R, E2>(
  source: Source<A, E, R>,
  then: Effect.Effect<unknown, E2>
): Source<A, E | E2, R> =>
  Effect.isEffect(source)
    ? Effect.tap(source, () => then)
    : { ...source, reader: Effect.map(source.reader, (read) => Effect.tap(read, () => then)) }
