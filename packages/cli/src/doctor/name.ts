import { Transport } from "@credit-data/core/Internal"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { lookup } from "node:dns/promises"
import { isIP } from "node:net"
import { failed, type Failed, type Finding, ok, skipped } from "./step.ts"
import { requestError, type Target } from "./target.ts"

const retired = " Auth V1 reached its sunset at the end of 2024: if its host is gone, use Auth V2."

/** Resolves the host as the clients do: with the resolver of the system, hosts file included. */
export const check = Effect.fnUntraced(function*(target: Target): Effect.fn.Return<Finding, Failed> {
  const { host, proxy, variable } = target
  if (Option.isSome(proxy)) return skipped("the proxy resolves the name", undefined)
  if (isIP(host) !== 0) return ok(`${host} is an address, not a name`, undefined)
  const addresses = yield* Effect.tryPromise(() => lookup(host, { all: true })).pipe(
    Effect.catchAll(({ error }) => {
      const reason = Transport.reason(requestError(target.url.href, error))
      return reason === "NameNotFound"
        ? failed(
          `${host} does not resolve`,
          `Correct the host in ${variable}, or set HTTPS_PROXY if this network needs a forward proxy.${
            variable === "CREDIT_DATA_AUTH_V1_URL" ? retired : ""
          }`
        )
        : failed(
          `DNS did not respond for ${host}`,
          "Check the DNS settings of this machine, or set HTTPS_PROXY if this network needs a forward proxy."
        )
    })
  )
  const [first, ...others] = addresses.map(({ address }) => address)
  return ok(`${host} is ${first}${others.length === 0 ? "" : ` and ${others.length} more`}`, undefined)
})
