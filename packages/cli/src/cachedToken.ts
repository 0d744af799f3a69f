import { Sealing } from "@credit-data/fleet/Internal"
import { readFileSync, statSync } from "node:fs"
import path from "node:path"
import { tokenFolder } from "./userFolders.ts"
import type { Invocation } from "./commandLine/commands.ts"
import type { PrintedToken } from "./tokenText.ts"

// Opens the sealed token in the file store of @credit-data/fleet without loading Effect, which takes longer than everything else that
// `token --cache` does. Whatever is unusual here is left to the whole program: other variables, a token to renew, another version.

/** The earliest point of its life at which a token is renewed. */
const renewedFrom = 0.75

/** Times by clocks that agree differ by at most this. */
const rounding = 1_000

const accessOfOthers = 0o077

type Options = Pick<Invocation<"token">["options"], "auth" | "cache" | "verbose">

const variable = (name: string): string => process.env[`CREDIT_DATA_${name}`] ?? ""

/** An object of JSON, whose fields may be anything. */
const parsed = (text: string): Readonly<Record<string, unknown>> => Object.fromEntries(Object.entries(JSON.parse(text)))

/** Opens what the store has for the variables of Auth V2. Throws if there is nothing, or nothing that it can open. */
const open = (secret: string, scopes: ReadonlyArray<string>): Readonly<Record<string, unknown>> => {
  const url = `${new URL(variable("AUTH_V2_URL")).href.replace(/\/+$/, "")}/oauth2/token`
  const name = Sealing.nameOf(secret, { url, clientId: variable("CLIENT_ID"), audience: variable("AUDIENCE"), scopes })
  const { bytes, fence } = parsed(readFileSync(path.join(tokenFolder(), `${name}.value`), "utf8"))
  const text = Sealing.open({ secret, name, fence: Number(fence) }, Buffer.from(String(bytes), "base64"))
  return parsed(JSON.stringify(parsed(text ?? "")["token"]))
}

const read = (): PrintedToken | undefined => {
  const secret = variable("CLIENT_SECRET").replace(/\r?\n$/, "")
  const requested = [...new Set(variable("SCOPES").split(/\s+/).filter((scope) => scope !== ""))].toSorted()
  const isComplete = requested.length > 0 && variable("ENVIRONMENT") !== "" && variable("BASE_URL") !== ""
  if (!isComplete || secret.length < Sealing.shortestSecret || (statSync(tokenFolder()).mode & accessOfOthers) !== 0) {
    return undefined
  }
  const { endsAt, expiresAt: ownEnd, lifetimeMillis, scopes, secret: token } = open(secret, requested)
  const [expiresAt, lifetime] = [Math.min(Number(endsAt), Number(ownEnd)), Number(lifetimeMillis)]
  const left = Number(endsAt) - Date.now()
  const isFresh = expiresAt - Date.now() > lifetime * (1 - renewedFrom) && left <= lifetime + rounding
  if (!isFresh || typeof token !== "string" || !Array.isArray(scopes)) return undefined
  const granted = scopes.map(String)
  if (!requested.every((scope) => granted.includes(scope))) return undefined
  return { secret: token, scopes: granted, requestedAt: expiresAt - lifetime, expiresAt }
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
