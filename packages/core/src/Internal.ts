/**
 * What the packages of this project share with each other. It is no part of the public API, and may change in any version.
 *
 * @since 1.0.0
 */
export { type CallObserver, callObserver, type FinishedCall, observeCalls } from "./internal/callObserver.ts"
export { storedGrant } from "./internal/grant.ts"
export { groups } from "./internal/groups.ts"
export * as HttpError from "./internal/httpError.ts"
export * as Instant from "./internal/instant.ts"
export * as Source from "./internal/layerSource.ts"
export { ownMessage } from "./internal/ownMessage.ts"
export { longestPauseAfter } from "./internal/pauses.ts"
export {
  clientOf,
  firstScopes,
  printableScopes,
  printableUpTo,
  shownClientId,
  withoutSecrets
} from "./internal/printable.ts"
export { faultOf } from "./internal/readFault.ts"
export { readiness } from "./internal/readiness.ts"
export {
  connectionHeaders,
  isMethod,
  lengthOf,
  opaque,
  refusals,
  restrictedClient,
  type Send,
  unsendableHeader,
  userAgent
} from "./internal/restrictedClient.ts"
export { sharedLayer } from "./internal/sharedLayer.ts"
export { amend, ForcedRenewalMillis } from "./internal/supply.ts"
export * as Transport from "./internal/transportFailure.ts"
export * as Validation from "./internal/validation.ts"
export { disconnected, within } from "./internal/within.ts"
