import * as TokenError from "@credit-data/core/TokenError"
import * as CallError from "@credit-data/http-client/CallError"
import * as InsufficientScope from "@credit-data/http-client/InsufficientScope"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Predicate from "effect/Predicate"
import * as Failure from "../Failure.ts"

// The errors of the packages below, as errors of this package: plain classes, in the words of a program without Effect.

const closed = () =>
  new Failure.CallError("The connection was closed. Open it once, when the program starts, and close it last", {
    reason: "Closed",
    retryable: false
  })

export const tokenError = (error: TokenError.TokenError): Failure.TokenError => {
  const { clientId, environment, message, nextTryAt, retryable, tokenEndpoint } = error
  const common = {
    environment,
    ...(clientId !== undefined && { clientId }),
    tokenEndpoint,
    retryable,
    ...(nextTryAt !== undefined && { nextTryAt: DateTime.toDate(nextTryAt) })
  }
  switch (error._tag) {
    case "InvalidClient": {
      const { description, endpointStatus, error: code } = error
      return new Failure.InvalidClient(message, { ...common, endpointStatus, error: code, description })
    }
    case "ServerError": {
      const { description, endpointStatus, error: code, retryAfter } = error
      return new Failure.ServerError(message, {
        ...common,
        endpointStatus,
        error: code,
        description,
        ...(retryAfter !== undefined && { retryAfterSeconds: Duration.toSeconds(retryAfter) })
      })
    }
    case "InvalidResponse":
      return new Failure.InvalidResponse(message, {
        ...common,
        endpointStatus: error.endpointStatus,
        reason: error.rule
      })
    case "TransportError":
      return new Failure.TransportError(message, { ...common, reason: error.reason })
  }
}

interface EffectConfigError {
  readonly toString: () => string
}

const isConfigError = (error: unknown): error is EffectConfigError =>
  Predicate.isTagged(error, "ConfigError") && !(error instanceof Failure.ConfigError)

/** What callers get for an error. Errors of the program itself remain as they are. */
export const plain = (error: unknown): unknown => {
  if (error instanceof CallError.CallError) {
    const { cause, message, reason, retryable } = error
    return reason === "Closed"
      ? closed()
      : new Failure.CallError(message, { reason, retryable }, cause === undefined ? {} : { cause })
  }
  if (TokenError.isTokenError(error)) {
    return error._tag === "TransportError" && error.reason === "Closed" ? closed() : tokenError(error)
  }
  if (error instanceof InsufficientScope.InsufficientScope) {
    const { clientId, environment, granted, message, needed, nextTryAt } = error
    return new Failure.InsufficientScope(message, {
      environment,
      ...(clientId !== undefined && { clientId }),
      needed,
      granted,
      retryable: false,
      ...(nextTryAt !== undefined && { nextTryAt: DateTime.toDate(nextTryAt) })
    })
  }
  return isConfigError(error) ? new Failure.ConfigError(String(error)) : error
}
