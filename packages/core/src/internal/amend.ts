import type * as DateTime from "effect/DateTime"
import { InvalidClient, InvalidResponse, ServerError, type TokenError, TransportError } from "../TokenError.ts"

/** A copy of the failure, with information that was found later. */
export const amend = (
  error: TokenError,
  known: { readonly hint: string } | { readonly nextTryAt: DateTime.Utc | undefined } | {
    readonly deadlineEnded: boolean
  }
): TokenError => {
  switch (error._tag) {
    case "InvalidClient":
      return new InvalidClient({ ...error, ...known })
    case "ServerError":
      return new ServerError({ ...error, ...known })
    case "InvalidResponse":
      return new InvalidResponse({ ...error, ...known })
    case "TransportError":
      return new TransportError({ ...error, ...known })
  }
}
