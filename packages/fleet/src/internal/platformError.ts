import type { PlatformError } from "@effect/platform/Error"
import { StoreError } from "../StoreError.ts"

/** The reason of a failed file operation. */
const reasonOf = (error: PlatformError): string => error._tag === "SystemError" ? error.reason : error._tag

/** A file does not exist. */
export const isMissing = (error: PlatformError): boolean => reasonOf(error) === "NotFound"

/** A file that is to be created exists. */
export const isExisting = (error: PlatformError): boolean => reasonOf(error) === "AlreadyExists"

export const storeError = (error: PlatformError): StoreError =>
  new StoreError({
    reason: isMissing(error) || reasonOf(error) === "TimedOut" ? "Unavailable" : "Refused",
    code: reasonOf(error)
  })
