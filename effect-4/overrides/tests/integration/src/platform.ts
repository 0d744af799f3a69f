// Where the platforms of Effect 3 and Effect 4 differ in what the tests expect.

/** Dispatchers for `fetch`, of the undici version that Node itself uses. */
export { Agent, ProxyAgent } from "undici"

/** The exit code of a program after SIGINT. */
export const interruptedExitCode = 130

/** Whether `node:http` reports a failed upload instead of a response that arrived before the end of the upload. */
export const losesEarlyResponse = false

/** What users see that differs from Effect 3, by situation. docs/effect-4.md names each. */
export const otherBehaviour: Readonly<Record<string, string>> = {
  "an error, printed by Node": "the JSON",
  "a response":
    "{\"_id\":\"@effect/platform/HttpClientResponse\",\"headers\":[\"content-type\",\"content-length\",\"date\",\"connection\"],\"request\":{\"_id\":\"HttpClientRequest\",\"body\":{\"_id\":\"effect/HttpBody\",\"_tag\":\"Empty\"},\"hash\":{\"_id\":\"Option\",\"_tag\":\"None\"},\"headers\":{},\"method\":\"GET\",\"url\":\"http://127.0.0.1:0/data-access/consumers/42\",\"urlParams\":{\"_id\":\"UrlParams\",\"params\":{}}},\"status\":200}",
  "a response, as text": "one line",
  "an invalid option": "(Invalid data at deadline: \"Expected a duration\")",
  "{ seconds: 1 } as a duration": "1s",
  "the admin API: a body that is text": "415"
}
