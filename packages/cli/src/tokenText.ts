import type { Invocation } from "./commandLine/commands.ts"
import { instant, isTerminal, jsonText, quoted, scopesText, table } from "./text.ts"

// What `token` prints. Needs nothing of Effect, so that a cached token comes at once.

export const variable = "CREDIT_DATA_ACCESS_TOKEN"

/** A token, with its times in milliseconds since 1970. */
export interface PrintedToken {
  readonly secret: string
  readonly scopes: ReadonlyArray<string>
  readonly requestedAt: number
  readonly expiresAt: number
}

const hidden = "<hidden>"

export const hiddenNote = "The token is hidden on a terminal. Use a pipe, or --show-token."

type Options = Pick<Invocation<"token">["options"], "json" | "output" | "show-token">

export const isHidden = (options: Options): boolean => isTerminal() && !options["show-token"]

/** The token in the form that the options request. */
export const tokenText = ({ expiresAt, requestedAt, scopes, secret }: PrintedToken, options: Options): string => {
  const token = isHidden(options) ? hidden : secret
  const expires = instant(expiresAt)
  if (options.json) {
    return jsonText({
      accessToken: token,
      tokenType: "Bearer",
      scopes,
      requestedAt: instant(requestedAt),
      expiresAt: expires
    })
  }
  switch (options.output) {
    case "header":
      return `Authorization: Bearer ${token}`
    case "env":
      return `export ${variable}=${quoted(token)}`
    default:
      return token === hidden
        ? table([["token", hidden], ["scopes", scopesText(scopes)], [
          "expires",
          `${expires.iso} (${expires.epochSeconds})`
        ]])
        : token
  }
}
