import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { lookup } from "node:dns/promises"
import * as Http from "node:http"
import * as Https from "node:https"
import * as Net from "node:net"
import { failed, type Finding, ok, skipped } from "./step.ts"
import { explained, type Target } from "./target.ts"

const retired = " Auth V1 was retired at the end of 2024: if its host is gone, use Auth V2."

/** Resolves the host as the clients do: with the resolver of the system, hosts file included. */
export const resolve = Effect.fnUntraced(function*(target: Target): Effect.fn.Return<Finding, Finding> {
  const { host, proxy, variable } = target
  if (proxy !== undefined) return skipped("the proxy resolves the name")
  if (Net.isIP(host) !== 0) return ok(`${host} is an address, not a name`)
  const addresses = yield* Effect.tryPromise(() => lookup(host, { all: true })).pipe(
    Effect.catchAll(({ error }) => {
      const isUnknown = explained(target, error).reason === "NameNotFound"
      const what = isUnknown ? `Correct the host in ${variable}` : "Check the DNS settings of this machine"
      return failed(
        isUnknown ? `${host} does not resolve` : `DNS did not respond for ${host}`,
        `${what}, or set HTTPS_PROXY if this network needs a forward proxy.${
          isUnknown && variable === "CREDIT_DATA_AUTH_V1_URL" ? retired : ""
        }`
      )
    })
  )
  const [first, ...others] = addresses.map(({ address }) => address)
  return ok(`${host} is ${first}${others.length === 0 ? "" : ` and ${others.length} more`}`)
})

const unconnected = (target: Target, error: unknown): Effect.Effect<never, Finding> => {
  const { advice, reason } = explained(target, error)
  const what = reason === "Refused" ? "refused the connection" : `cannot be reached (${reason})`
  return failed(`${target.authority} ${what}`, advice)
}

const direct = (target: Target) =>
  Effect.async<Net.Socket, Finding>((resume) => {
    const socket = Net.connect({ host: target.host, port: target.port })
    socket.once("connect", () => resume(Effect.succeed(socket)))
    // remains: an error that comes after the check must not end the process
    socket.on("error", (error) => resume(unconnected(target, error)))
    return Effect.sync(() => socket.destroy())
  })

const refusalOf = (
  { authority, host, variable }: Target,
  proxy: NonNullable<Target["proxy"]>,
  status: number
): string =>
  status === 407
    ? proxy.authorization === undefined
      ? `Add a user and a password to ${proxy.variable}: http://USER:PASSWORD@HOST:PORT.`
      : `Correct the user and the password of the proxy in ${proxy.variable}.`
    : status >= 500
    ? `The proxy could not reach ${authority}: check the host in ${variable}, then ask the administrator of the proxy.`
    : `Ask the administrator of the proxy to allow CONNECT to ${authority}, or add ${host} to NO_PROXY if this machine may ` +
      "connect directly."

const throughProxy = (target: Target, proxy: NonNullable<Target["proxy"]>) =>
  Effect.async<Net.Socket, Finding>((resume) => {
    const { authority: path, host } = target
    const { address, authorization, secure, variable } = proxy
    const credentials = authorization === undefined ? {} : { "proxy-authorization": Redacted.value(authorization) }
    const connecting = (secure ? Https : Http).request({
      agent: false,
      method: "CONNECT",
      host: proxy.host,
      port: proxy.port,
      path,
      headers: { host: path, ...credentials }
    })
    connecting.once("connect", ({ statusCode = 0 }, socket) => {
      socket.on("error", () => socket.destroy())
      if (statusCode >= 200 && statusCode < 300) return resume(Effect.succeed(socket))
      socket.destroy()
      resume(failed(`the proxy ${address} returned ${statusCode}`, refusalOf(target, proxy, statusCode)))
    })
    connecting.on("error", (error) => {
      const { reason } = explained(target, error, address)
      resume(failed(
        `the proxy ${address} ${reason === "Refused" ? "refused the connection" : `did not respond (${reason})`}`,
        `Check scheme, host and port in ${variable}, or add ${host} to NO_PROXY if this machine may connect directly.`
      ))
    })
    connecting.end()
    return Effect.sync(() => connecting.destroy())
  })

/** Opens a connection to a server, through its proxy if it has one. It is closed with the scope. */
export const open = (target: Target): Effect.Effect<Net.Socket, Finding, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.interruptible(target.proxy === undefined ? direct(target) : throughProxy(target, target.proxy)),
    (socket) => Effect.sync(() => socket.destroy())
  )

/** Connects to a server, directly or through its proxy. */
export const check = (target: Target): Effect.Effect<Finding, Finding> => {
  const { authority, proxy } = target
  const way = proxy === undefined ? "" : ` through the proxy ${proxy.address}`
  return Effect.scoped(Effect.as(open(target), ok(`connected to ${authority}${way}`)))
}
