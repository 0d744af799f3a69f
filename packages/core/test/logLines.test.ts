import { printed } from "@credit-data/test-support/printed"
import { assert, describe, it } from "@effect/vitest"
import * as Lines from "../src/internal/logLines.ts"
import { instant, until } from "./support/headlines.ts"

// The words of these lines, which other tests take from their functions.

const token = until("1970-01-01T01:00:00.000Z")
const since = instant("1970-01-01T00:00:30.000Z")

describe("a line of the log", () => {
  for (
    const [name, line, expected] of [
      [
        "about a token is no news",
        Lines.obtained("X", token, undefined),
        /^DEBUG .* X\. It expires at 1970-01-01T01:00:00/
      ],
      [
        "about a token after a failure names its time",
        Lines.renewed("X", token, { failures: 1, since }),
        /^INFO .* X, after 1 failed request since 1970-01-01T00:00:30/
      ],
      [
        "about a token after failures names their number",
        Lines.shared("X", token, { failures: 2, since }),
        /^INFO .* X, after 2 failed requests since/
      ],
      ["about a missing token has the failure", Lines.noToken({ message: "Why." }), /^ERROR .*fail\. Why\.$/],
      [
        "about a refusal says which token remains",
        Lines.refused({ message: "Why." }, "current token"),
        /^ERROR .* the current token remains in use\. Why\.$/
      ],
      [
        "about a rejected token says what happens next",
        Lines.rejected("X", undefined),
        /^WARN .* X\. Another token is requested\.$/
      ],
      [
        "about a token that is rejected again has the time before, and advice",
        Lines.rejected("X", since),
        /^WARN .* X again\. .* at 1970-01-01T00:00:30.* ask the operator .* ask why the API rejects/
      ],
      [
        "about missing scopes names them, and the owner of the grant",
        Lines.scopesMissing("X", ["furnishment:all"]),
        /^WARN .* X .*furnishment:all\. .*operator/
      ],
      [
        "about granted scopes names them",
        Lines.scopesGranted("X", ["furnishment:all"]),
        /^INFO .* X .*furnishment:all\.$/
      ]
    ] as const
  ) {
    it(name, () => assert.match(printed(line), expected))
  }
})
