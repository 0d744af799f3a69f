/**
 * Answers of the business API, as data.
 *
 * @since 1.0.0
 */

/**
 * An answer to the calls with this method and path.
 *
 * @since 1.0.0
 * @category models
 */
export interface Fixture {
  readonly method: string
  /** A path of the business API. A segment in braces, such as `{id}`, stands for any one segment. */
  readonly path: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** A JSON value. A string is sent as it is if `headers` has a content type other than JSON. */
  readonly body: unknown
}
