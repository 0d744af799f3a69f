/**
 * Where a connection logs.
 *
 * @since 1.0.0
 */

/**
 * A log with a method for each level. `console` is one, and so are the loggers of pino, winston and Fastify. A message contains no secret.
 *
 * @since 1.0.0
 * @category models
 */
export interface Log {
  readonly debug: (message: string) => void
  readonly info: (message: string) => void
  readonly warn: (message: string) => void
  readonly error: (message: string) => void
}
