import * as DateTime from "effect/DateTime"
import type { AccessToken } from "../AccessToken.ts"
import { InvalidResponse } from "../TokenError.ts"
import { expiredMeanwhile } from "./advice.ts"

/** The failure for a token that has expired before its first use, this many milliseconds after its request was sent. */
export const expired = (
  where: { readonly environment: string; readonly tokenEndpoint: string },
  { expiresAt, requestedAt }: AccessToken,
  tookMillis: number
): InvalidResponse => {
  const lifetime = DateTime.toEpochMillis(expiresAt) - DateTime.toEpochMillis(requestedAt)
  const hint = expiredMeanwhile(lifetime, tookMillis)
  return new InvalidResponse({ ...where, status: 200, rule: "Expired", ...(hint !== undefined && { hint }) })
}
