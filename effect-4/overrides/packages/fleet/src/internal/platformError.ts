import type { PlatformError } from "effect/PlatformError"
import { StoreError } from "../StoreError.ts"

/** A file does not exist. */
export const isMissing = ({ reason }: PlatformError): boolean => reason._tag === "NotFound"

/** A file that is to be created exists. */
export const isExisting = ({ reason }: PlatformError): boolean => reason._tag === "AlreadyExists"

export const storeError = (error: PlatformError): StoreError =>
  new StoreError({
    reason: isMissing(error) || error.reason._tag === "TimedOut" ? "Unavailable" : "Refused",
    code: error.reason._tag
  })
