/**
 * What the package for Promises uses. It is no part of the public API, and may change in any version.
 *
 * @since 1.0.0
 */
export { unlessAborted } from "./internal/arguments.ts"
export { callFailure } from "./internal/callFailure.ts"
export { type Door, makeDoor } from "./internal/door.ts"
export { ofFetch, type Sender } from "./internal/sender.ts"
