/** Dispatchers for `fetch`, of the undici that Node itself uses. */
export { Agent, ProxyAgent } from "undici"
