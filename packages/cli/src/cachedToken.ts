import { Format, Sealing } from "@credit-data/fleet/Internal"
import { readFileSync, statSync } from "node:fs"
import path from "node:path"
import { tokenFolder } from "./userFolders.ts"
import type { Invocation } from "./commandLine/commands.ts"
import type { PrintedToken } from "./tokenText.ts"
import { secretVariable } from "./variables.ts"
import { version } from "./version.ts"

// Opens the sealed token in the file store without loading Effect, which would take more than twice the time of everything else that
// `token --cache` does. It understands no variable: the whole program remembers those that it accepted, and the same ones need no second
// look. Whatever is unusual is left to the whole program: other variables, a token to renew, another version.

/** The earliest point of its life at which a token is renewed. */
const renewedFrom = 0.75

const accessOfOthers = 0o077

type Options = Pick<Invocation<"token">["options"], "auth" | "cache" | "verbose">

/** What the whole program made of the variables. */
export interface Accepted {
  /** The name of the token's entry. */
  readonly entry: string
  readonly scopes: ReadonlyArray<string>
}

/** The secret as it is set, and the name under which the store has what was made of the present variables, whatever they are. */
export const present = (auth: Options["auth"]): { readonly secret: string; readonly name: string } => {
  const secret = process.env[secretVariable] ?? ""
  const variables = Object.keys(process.env).filter((name) => /^CREDIT_DATA_|_PROXY$/i.test(name)).toSorted()
    .map((name) => [name, process.env[name]])
  return { secret, name: Sealing.nameOfText(secret, JSON.stringify([version, auth, variables])) }
}

/** The text of an entry. Throws if there is no file for it. */
const textOf = (secret: string, name: string): string | undefined => {
  const value = Format.decodeValue(readFileSync(path.join(tokenFolder(), `${name}.value`), "utf8"))
  return value && Sealing.open({ secret, name, fence: value.fence }, value.bytes)
}

const read = (auth: Options["auth"]): PrintedToken | undefined => {
  if ((statSync(tokenFolder()).mode & accessOfOthers) !== 0) return undefined
  const { name, secret } = present(auth)
  const { entry, scopes: requested }: Accepted = JSON.parse(textOf(secret, name) ?? "")
  // the line break at the end of a file is no part of a secret
  const token = Format.tokenIn(textOf(secret.replace(/\r?\n$/, ""), entry) ?? "")
  if (token === undefined || !Format.isAlive(token, Date.now())) return undefined
  const { lifetimeMillis, scopes } = token
  const expiresAt = Math.min(token.endsAt, token.expiresAt)
  const isFresh = expiresAt - Date.now() > lifetimeMillis * (1 - renewedFrom)
  if (!isFresh || !requested.every((scope) => scopes.includes(scope))) return undefined
  return { secret: token.secret, scopes, requestedAt: expiresAt - lifetimeMillis, expiresAt }
}

/** The token that the cache has for the command `token`, if nothing is left to do but to print it. */
export const cachedToken = ({ auth, cache, verbose }: Options): PrintedToken | undefined => {
  if (!cache || verbose) return undefined
  try {
    return read(auth)
  } catch {
    return undefined
  }
}
