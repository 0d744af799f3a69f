/** A mutant that no test can kill, because the program behaves in the same way with it. */
export interface Equivalent {
  readonly file: string
  /** The text that the mutant replaces. */
  readonly from: string
  readonly to: string
  readonly reason: string
}

const groupClient = (from: string, to: string, reason: string): Equivalent => ({
  file: "http-client/src/GroupClient.ts",
  from,
  to,
  reason
})

export const equivalent: ReadonlyArray<Equivalent> = [
  groupClient("url.startsWith(anyPath)", "url.endsWith(anyPath)", "the URL is parsed instead, which is slower"),
  groupClient("\"\"", "\"Stryker was here!\"", "a call without a token has a header of its own"),
  groupClient("/^\\S+ +/", "/\\S+ +/", "a header begins with its scheme"),
  groupClient("received.token !== undefined", "true", "a call without a token does not get here"),
  groupClient("first.response.status === 401", "true", "the function begins with the same check"),
  groupClient(
    "error._tag !== \"InsufficientScope\"",
    "true",
    "only the types need it: the other errors are retryable or not"
  ),
  groupClient("\"InsufficientScope\"", "\"\"", "only the types need it: the other errors are retryable or not")
]
