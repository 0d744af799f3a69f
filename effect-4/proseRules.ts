// What Markdown and comments mention of Effect, where Effect 4 has another name.

/** Names in code spans, beside the members of `rules.ts`. */
export const names: Readonly<Record<string, string>> = {
  Encode: "EncodeError",
  InvalidUrl: "InvalidUrlError",
  RequestError: "HttpClientError",
  Transport: "TransportError"
}

/** Other texts. */
export const texts: ReadonlyArray<readonly [from: string, to: string]> = [
  // Effect 4 is what npm installs without a tag
  ["@effect-3", ""]
]
