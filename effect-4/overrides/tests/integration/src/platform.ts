// Where the platforms of Effect 3 and Effect 4 differ in what the tests expect.

/** Dispatchers for `fetch`, of the undici version that Node itself uses. */
export { Agent, ProxyAgent } from "undici"

/** Whether `node:http` reports a failed upload instead of a response that arrived before the end of the upload. */
export const losesEarlyResponse = false

/** The transports that use a version of undici which ends the process when a server closes a connection too early. */
export const unsafe: ReadonlyArray<string> = []
