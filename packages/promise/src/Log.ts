/**
 * Where a connection logs.
 *
 * @since 1.0.0
 */

/**
 * A log with a method for each level, such as `console` or Fastify's logger. A message contains no secret.
 *
 * @since 1.0.0
 * @category models
 */
export interface Log {
  readonly debug: (message: string) => unknown
  readonly info: (message: string) => unknown
  readonly warn: (message: string) => unknown
  readonly error: (message: string) => unknown
}
