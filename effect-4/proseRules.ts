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
  ["@effect-3", ""],
  ["effect@3 @effect/platform@0.97", "effect@~4.1"],
  ["@effect/platform-node@0.108", "@effect/platform-node@~4.1"],
  ["@effect/vitest@0.30 vitest@3", "@effect/vitest@~4.0 vitest@5"]
]
