import type { AccessToken } from "@credit-data/core/AccessToken"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { Invocation } from "../commandLine/commands.ts"
import { instant } from "../instant.ts"
import type * as PrintedJson from "../printedJson.ts"
import * as Supply from "../supply.ts"
import { table } from "../table.ts"
import { printLine, isTerminal, note } from "../terminal.ts"

export const variable = "CREDIT_DATA_ACCESS_TOKEN"

const hidden = "<hidden>"

type Output = "text" | "json" | "header" | "env"

/** A word of a shell, whatever characters the token has. */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

const format = (token: AccessToken, text: string, output: Output): string => {
  switch (output) {
    case "text":
      return text === hidden
        ? table([
          ["token", hidden],
          ["scopes", token.scopes.join(" ")],
          ["expires", `${instant(token.expiresAt).iso} (${instant(token.expiresAt).epochSeconds})`]
        ])
        : text
    case "json":
      return JSON.stringify(
        {
          version: 1,
          accessToken: text,
          tokenType: token.tokenType,
          scopes: token.scopes,
          requestedAt: instant(token.requestedAt),
          expiresAt: instant(token.expiresAt)
        } satisfies PrintedJson.Token
      )
    case "header":
      return `Authorization: Bearer ${text}`
    case "env":
      return `export ${variable}=${quoted(text)}`
  }
}

export const token = ({ options }: Invocation<"token">) =>
  Effect.gen(function*() {
    const token = yield* Supply.covering
    const isHidden = isTerminal() && !options["show-token"]
    const text = isHidden ? hidden : Redacted.value(token.secret)
    yield* printLine(format(token, text, options.output ?? "text"))
    if (isHidden) yield* note("The token is hidden on a terminal. Use a pipe, or --show-token.")
  }).pipe(Effect.provide(Supply.layer(options)))
