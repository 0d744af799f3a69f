/**
 * What the package for Promises uses. It is no part of the public API, and may change in any version.
 *
 * @since 1.0.0
 */
export { callFailure, refused } from "./internal/callFailure.ts"
export { type Door, makeDoor } from "./internal/door.ts"
export { ofFetch, type Sender } from "./internal/sender.ts"
