/**
 * What `connect` and calls reject with. No error contains a path, a header's value or a body of a request, unless a `fetch` or a stream of your
 * own quotes it.
 *
 * @since 1.0.0
 */

/** What the constructor of an error takes beside its message. */
type Fields<E extends Failure> = Omit<E, "cause" | "message" | "name" | "stack" | "toJSON">

/** An error whose fields are printed with its message. */
abstract class Failure extends Error {
  /** Whether a later attempt can succeed. */
  declare readonly retryable: boolean

  constructor(message: string, fields: object, options?: { readonly cause?: unknown }) {
    super(message, options)
    Object.assign(this, fields)
  }

  /** What `JSON.stringify` prints. */
  toJSON(): object {
    return { ...this, name: this.name, message: this.message }
  }
}

/** A failure of a token request. */
abstract class FailedTokenRequest extends Failure {
  /** The name of the environment. */
  declare readonly environment: string
  /** The id of the client for which the token was requested. */
  declare readonly clientId?: string | undefined
  /** The address of the token endpoint. */
  declare readonly tokenEndpoint: string
  /** No token request is sent before this time. */
  declare readonly nextTryAt?: Date | undefined
}

/** A failure with the status and the OAuth error of the token endpoint. */
abstract class TokenEndpointError extends FailedTokenRequest {
  /** The HTTP status of the token endpoint. It is not the status for your own callers. */
  declare readonly endpointStatus: number
  /** The code of the OAuth error, if the token endpoint returned one. */
  declare readonly error?: string | undefined
  /** The text of the OAuth error, without secrets. */
  declare readonly description?: string | undefined
}

/**
 * The token endpoint refused the client. A retry with the same credentials cannot succeed.
 *
 * @since 1.0.0
 * @category errors
 */
export class InvalidClient extends TokenEndpointError {
  constructor(message: string, fields: Fields<InvalidClient>) {
    super(message, fields)
  }
}

/**
 * The token endpoint returned a failure other than the refusal of the client.
 *
 * @since 1.0.0
 * @category errors
 */
export class ServerError extends TokenEndpointError {
  /**
   * The seconds that the token endpoint asked to wait.
   *
   * @since 1.0.0
   */
  declare readonly retryAfterSeconds?: number | undefined

  constructor(message: string, fields: Fields<ServerError>) {
    super(message, fields)
  }
}

/**
 * The token endpoint's response is outside the contract.
 *
 * @since 1.0.0
 * @category errors
 */
export class InvalidResponse extends FailedTokenRequest {
  /**
   * The HTTP status of the token endpoint. It is not the status for your own callers.
   *
   * @since 1.0.0
   */
  declare readonly endpointStatus: number
  /**
   * The rule that the response broke.
   *
   * @since 1.0.0
   */
  declare readonly reason: string

  constructor(message: string, fields: Fields<InvalidResponse>) {
    super(message, fields)
  }
}

/**
 * The token endpoint returned no complete response.
 *
 * @since 1.0.0
 * @category errors
 */
export class TransportError extends FailedTokenRequest {
  /**
   * Why, such as `NameNotFound`, `Refused`, `Reset`, `Tls`, `Proxy` or `Timeout`.
   *
   * @since 1.0.0
   */
  declare readonly reason: string

  constructor(message: string, fields: Fields<TransportError>) {
    super(message, fields)
  }
}

/**
 * The token does not cover the scope of the endpoint group. Nothing was sent, or the request had been sent with an earlier token only.
 *
 * @since 1.0.0
 * @category errors
 */
export class InsufficientScope extends Failure {
  /**
   * The name of the environment.
   *
   * @since 1.0.0
   */
  declare readonly environment: string
  /**
   * The id of the client for which the token was requested.
   *
   * @since 1.0.0
   */
  declare readonly clientId?: string | undefined
  /**
   * The scope that the endpoint group needs.
   *
   * @since 1.0.0
   */
  declare readonly needed: string
  /**
   * The scopes that were granted.
   *
   * @since 1.0.0
   */
  declare readonly granted: ReadonlyArray<string>
  /**
   * No further token is requested for this scope before this time.
   *
   * @since 1.0.0
   */
  declare readonly nextTryAt?: Date | undefined

  constructor(message: string, fields: Fields<InsufficientScope>) {
    super(message, fields)
  }
}

/**
 * The call was not sent, or got no complete response from the API.
 *
 * @since 1.0.0
 * @category errors
 */
export class CallError extends Failure {
  /**
   * Why. `InvalidUrl` and `Encode` are mistakes of the caller, and nothing was sent: a URL outside the base URL or values of a path that
   * would make another path, and a method, header or body that cannot be sent. `Closed`: you closed the connection. Otherwise the reason of the
   * transport, such as `Refused`, `Reset`, `Cut` or `Timeout`, after which the API may have received the request.
   *
   * @since 1.0.0
   */
  declare readonly reason: string

  constructor(message: string, fields: Fields<CallError>, options?: { readonly cause?: unknown }) {
    super(message, fields, options)
  }
}

/**
 * The configuration is wrong, or a call's group needs a scope that is not requested. The message shows no secret.
 *
 * @since 1.0.0
 * @category errors
 */
export class ConfigError extends Failure {
  constructor(message: string) {
    super(message, { retryable: false })
  }
}

// on the prototypes, so that an error prints its name once
for (
  const [name, { prototype }] of Object.entries({
    InvalidClient,
    ServerError,
    InvalidResponse,
    TransportError,
    InsufficientScope,
    CallError,
    ConfigError
  })
) Object.defineProperty(prototype, "name", { value: name, configurable: true, writable: true })

/**
 * A failure of a token request.
 *
 * @since 1.0.0
 * @category errors
 */
export type TokenError = InvalidClient | ServerError | InvalidResponse | TransportError

/**
 * Returns whether a value is a failure of a token request: `InvalidClient`, `ServerError`, `InvalidResponse` or `TransportError`.
 *
 * @since 1.0.0
 * @category guards
 */
export const isTokenError = (error: unknown): error is TokenError => error instanceof FailedTokenRequest

const property = (error: unknown, name: "cause" | "code" | "name"): unknown =>
  typeof error === "object" && error !== null && name in error ? Reflect.get(error, name) : undefined

/** Undefined if the error itself does not show it. */
const isRetryableItself = (error: unknown): boolean | undefined => {
  if (error instanceof Failure) return error.retryable
  // the time limits of `AbortSignal.timeout` and of other clients
  if (property(error, "name") === "TimeoutError") return true
  return ["ECONNABORTED", "ETIMEDOUT"].includes(String(property(error, "code"))) || undefined
}

/**
 * Returns whether a later attempt can succeed: after a `retryable` error, or after a timeout. Of another library's error, the `cause` decides.
 * Use it to choose the status for your own callers, such as 503 instead of 500.
 *
 * @since 1.0.0
 * @category guards
 * @example
 * ```ts
 * import { isRetryable } from "@credit-data/promise"
 *
 * export const statusOf = (error: unknown) => isRetryable(error) ? 503 : 500
 * ```
 */
export const isRetryable = (error: unknown): boolean =>
  isRetryableItself(error) ?? isRetryableItself(property(error, "cause")) ?? false
