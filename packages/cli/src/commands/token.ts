import type { AccessToken } from "@credit-data/core/AccessToken"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Answers from "../answers.ts"
import { instant } from "../instant.ts"
import * as Supply from "../supply.ts"
import { table } from "../table.ts"
import { answer, isTerminal, note } from "../terminal.ts"

export const variable = "CREDIT_DATA_ACCESS_TOKEN"

const hidden = "<hidden>"

type Output = "text" | "json" | "header" | "env"

/** A word of a shell, whatever characters the token has. */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

const print = (token: AccessToken, text: string, output: Output): string => {
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
        } satisfies Answers.Token
      )
    case "header":
      return `Authorization: Bearer ${text}`
    case "env":
      return `export ${variable}=${quoted(text)}`
  }
}

export const token = Command.make("token", {
  ...Supply.options,
  output: Options.choice("output", ["text", "json", "header", "env"]).pipe(
    Options.withDefault("text"),
    Options.withDescription("The token itself, JSON with its scopes and times, a header for curl, or a line for eval")
  ),
  showToken: Options.boolean("show-token").pipe(
    Options.withDescription("Show the token on a terminal too. To a pipe or a file it is always written")
  )
}, ({ output, showToken, ...choice }) =>
  Effect.gen(function*() {
    const token = yield* Supply.covering
    const isHidden = isTerminal() && !showToken
    yield* answer(print(token, isHidden ? hidden : Redacted.value(token.secret), output))
    if (isHidden) yield* note("The token is hidden on a terminal. Use a pipe, or --show-token.")
  }).pipe(Effect.provide(Supply.layer(choice)))).pipe(
    Command.withDescription("Print an access token")
  )
