import { Format, Sealing } from "@credit-data/fleet/Internal"
import { readFileSync, statSync } from "node:fs"
import path from "node:path"
import { tokenFolder } from "./userFolders.ts"
import type { Invocation } from "./commandLine/commands.ts"
import type { PrintedToken } from "./tokenText.ts"

// Opens the sealed token in the file store without loading Effect, which would take more than twice the time of everything else that
// `token --cache` does. Whatever is unusual is left to the whole program: other variables, a token to renew, another version.

/** The earliest point of its life at which a token is renewed. */
const renewedFrom = 0.75

const accessOfOthers = 0o077

type Options = Pick<Invocation<"token">["options"], "auth" | "cache" | "verbose">

const variable = (name: string): string => process.env[`CREDIT_DATA_${name}`] ?? ""

/** The token that the store has for the variables of Auth V2. Throws if there is no file for them. */
const stored = (secret: string, scopes: ReadonlyArray<string>): Format.StoredToken | undefined => {
  const url = `${new URL(variable("AUTH_V2_URL")).href.replace(/\/+$/, "")}/oauth2/token`
  const name = Sealing.nameOf(secret, { url, clientId: variable("CLIENT_ID"), audience: variable("AUDIENCE"), scopes })
  const value = Format.decodeValue(readFileSync(path.join(tokenFolder(), `${name}.value`), "utf8"))
  const text = value && Sealing.open({ secret, name, fence: value.fence }, value.bytes)
  return text === undefined ? undefined : Format.tokenIn(text)
}

const read = (): PrintedToken | undefined => {
  const secret = variable("CLIENT_SECRET").replace(/\r?\n$/, "")
  const requested = [...new Set(variable("SCOPES").split(/\s+/).filter((scope) => scope !== ""))].toSorted()
  const isComplete = requested.length > 0 && variable("ENVIRONMENT") !== "" && variable("BASE_URL") !== ""
  if (!isComplete || secret.length < Sealing.shortestSecret || (statSync(tokenFolder()).mode & accessOfOthers) !== 0) {
    return undefined
  }
  const token = stored(secret, requested)
  if (token === undefined || !Format.isAlive(token, Date.now())) return undefined
  const { lifetimeMillis, scopes } = token
  const expiresAt = Math.min(token.endsAt, token.expiresAt)
  const isFresh = expiresAt - Date.now() > lifetimeMillis * (1 - renewedFrom)
  if (!isFresh || !requested.every((scope) => scopes.includes(scope))) return undefined
  return { secret: token.secret, scopes, requestedAt: expiresAt - lifetimeMillis, expiresAt }
}

/** The token that the cache has for the command `token`, if nothing is left to do but to print it. */
export const cachedToken = ({ auth, cache, verbose }: Options): PrintedToken | undefined => {
  if (!cache || verbose || (auth ?? process.env["CREDIT_DATA_AUTH"] ?? "v2") !== "v2") return undefined
  try {
    return read()
  } catch {
    return undefined
  }
}
