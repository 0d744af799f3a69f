import { HttpError, Transport } from "@credit-data/core/Internal"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import { CallError } from "../CallError.ts"

// What a `fetch` of this package rejects with.

/** A mistake of the caller, after which nothing was sent. */
export const refused = (reason: "InvalidUrl" | "Encode", message: string): CallError =>
  new CallError({ message, reason, retryable: false })

/** The scope of the `fetch` has closed. */
export const closed = (): CallError =>
  new CallError({
    message: "The call was ended because its scope has closed. This is expected during shutdown",
    reason: "Closed",
    retryable: false
  })

/** An error that a caller may get as it is: of a signal, or of this project, whose errors say whether they are retryable. */
const isFinished = (error: unknown): boolean =>
  Predicate.hasProperty(error, "retryable") && Predicate.isBoolean(error.retryable) ||
  Predicate.hasProperty(error, "name") && (error.name === "AbortError" || error.name === "TimeoutError")

/** Whether reading a body failed because of its connection, and not because the body is no JSON or was read before. */
const isCutBody = (error: unknown): boolean =>
  Predicate.hasProperty(error, "cause") && error.cause !== undefined ||
  Transport.textIn(error, "code") !== "" ||
  error instanceof TypeError && error.message === "terminated"

interface Sent {
  readonly url: string
  /** The request's header. An error can quote it without its scheme. */
  readonly authorization: string | undefined
}

const secretsIn = (header: string) => [header, header.replace(/^\S+ +/, "")].map((text) => Redacted.make(text))

/** What becomes of an error of the transport. A caller gets nothing of the request, which a foreign error may contain. */
export const callFailure = (error: unknown, { authorization, url }: Sent, stage: Transport.Stage): unknown => {
  if (isFinished(error) || stage === "Body" && !isCutBody(error)) return error
  const failure = HttpError.requestError("Transport", { request: HttpClientRequest.get(url), cause: error })
  const { reason } = Transport.transportFailure(failure, stage)
  return new CallError({
    message: Transport.describe(failure, { name: "the API", address: "CREDIT_DATA_BASE_URL" }, stage),
    reason,
    // without a cause, it is a mistake of the program
    retryable: Transport.isRetryable(reason) &&
      !(reason === "Other" && error instanceof TypeError && error.cause === undefined),
    cause: Transport.foreignError(error, authorization === undefined ? [] : secretsIn(authorization))
  })
}
