import { Transport } from "@credit-data/core/Internal"
import type { PlatformError } from "@effect/platform/Error"
import { StoreError } from "../StoreError.ts"

/** The reason of a failed file operation. */
const reasonOf = (error: PlatformError): string => error._tag === "SystemError" ? error.reason : error._tag

/** A file does not exist. */
export const isMissing = (error: PlatformError): boolean => reasonOf(error) === "NotFound"

/** A file that is to be created exists. */
export const isExisting = (error: PlatformError): boolean => reasonOf(error) === "AlreadyExists"

/** The code of the system, if the platform passes it on. */
const codeOf = (error: PlatformError): string => Transport.textIn(error.cause, "code") || reasonOf(error)

/** A folder is in the place of a file. */
export const isFolder = (error: PlatformError): boolean => codeOf(error) === "EISDIR"

/** What to do about the codes of the system that need more than a look at the folder, for the engineer on call. */
const advice: Readonly<Record<string, string>> = {
  ENOSPC: "The disk with the folder of the store is full: free space on it.",
  EDQUOT: "The disk quota for the folder of the store is used up: free space, or raise the quota.",
  EROFS: "The folder of the store is on a read-only file system: choose a folder that can be written."
}

/** The failure with the code of the system. */
export const storeError = (error: PlatformError): StoreError => {
  const code = codeOf(error)
  const hint = advice[code]
  return new StoreError({
    reason: isMissing(error) || reasonOf(error) === "TimedOut" ? "Unavailable" : "Refused",
    code,
    ...(hint !== undefined && { hint })
  })
}
