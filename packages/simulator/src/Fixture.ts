/**
 * Responses of the business API, as data.
 *
 * @since 1.0.0
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import type * as Effect from "effect/Effect"
import type { FixtureError } from "./FixtureError.ts"
import { fromDirectory } from "./internal/fixtures/directory.ts"

/**
 * A response of the business API.
 *
 * @since 1.0.0
 * @category models
 */
export interface Response {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /**
   * A JSON value. A string is sent as it is if `headers` has a content type other than JSON. Without a value, the response has no
   * body.
   */
  readonly body?: unknown
}

/**
 * A response to the calls with this method, path and query. If several fixtures match a call, it gets the one with the fewest variables
 * in its path, and among these the one with the most query parameters.
 *
 * @since 1.0.0
 * @category models
 * @example
 * ```ts
 * import type { Fixture } from "@credit-data/simulator"
 *
 * // the first two calls return 202, and all others 200
 * export const report: Fixture.Fixture = {
 *   method: "GET",
 *   path: "/data-access/reports/{id}",
 *   query: { format: "json" },
 *   status: 202,
 *   headers: { "retry-after": "1" },
 *   next: [
 *     { status: 202, headers: { "retry-after": "1" } },
 *     { status: 200, headers: {}, body: { score: 712 } }
 *   ]
 * }
 * ```
 */
export interface Fixture extends Response {
  readonly method: string
  /** A path of the business API. A segment in braces, such as `{id}`, stands for any one segment. */
  readonly path: string
  /** Query parameters that a call has with these values. It can have others too. Default: any query. */
  readonly query?: Readonly<Record<string, string>> | undefined
  /** The name of this example among others. A client chooses with `Prefer: example=name`, and a status with `Prefer: code=404`. */
  readonly example?: string | undefined
  /**
   * The responses to the calls after the first one, in order. The last one repeats. Default: the first response repeats.
   */
  readonly next?: ReadonlyArray<Response> | undefined
}

/**
 * The fixtures in a folder. The file `data-access/consumers/42.json` is the response to `GET /data-access/consumers/42` with the status 200.
 * The name can have a method and a status: `data-access/consumers.POST.201.json`. A folder or file named `{id}` stands for any one
 * segment. Files that do not end in `.json` are ignored.
 *
 * @since 1.0.0
 * @category constructors
 * @example
 * ```ts
 * import { Fixture, Simulator } from "@credit-data/simulator"
 * import { NodeContext } from "@effect/platform-node"
 * import { Effect, Layer } from "effect"
 *
 * export const Test = Layer.unwrapEffect(
 *   Effect.map(Fixture.load("test/fixtures"), (fixtures) => Simulator.layer({ fixtures }))
 * ).pipe(Layer.provide(NodeContext.layer))
 * ```
 */
export const load: (
  folder: string
) => Effect.Effect<ReadonlyArray<Fixture>, FixtureError, FileSystem.FileSystem | Path.Path> = fromDirectory
