import { Transport } from "@credit-data/core/Internal"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Http from "node:http"
import * as Https from "node:https"
import * as Net from "node:net"
import { failed, type Failed, type Finding, ok } from "./step.ts"
import * as Proxy from "./proxy.ts"
import { authority, bare, requestError, type Target } from "./target.ts"

const unconnected = (target: Target, error: unknown): Effect.Effect<never, Failed> => {
  const server = authority(target)
  const asRequestError = requestError(target.url.href, error)
  switch (Transport.reason(asRequestError)) {
    case "Refused":
      return failed(
        `${server} refused the connection`,
        `Check the host and the port in ${target.variable}; if they are right, the server is down: ` +
          "contact the operator."
      )
    case "Unreachable":
    case "Timeout":
      return failed(
        `${server} cannot be reached`,
        `Check the network, and ask for a firewall rule that lets this machine connect to ${server}.`
      )
    default:
      return failed(
        `no connection to ${server}`,
        Transport.describe(asRequestError, { name: target.role, address: target.variable })
      )
  }
}

const direct = (target: Target) =>
  Effect.async<Net.Socket, Failed>((resume) => {
    const socket = Net.connect({ host: target.host, port: target.port })
    socket.once("connect", () => resume(Effect.succeed(socket)))
    // remains: an error that comes after the check must not end the process
    socket.on("error", (error) => resume(unconnected(target, error)))
    return Effect.sync(() => socket.destroy())
  })

const why = { Refused: "refused the connection", Tls: "failed the TLS handshake", NameNotFound: "does not resolve" }

const isExplained = (reason: string): reason is keyof typeof why => Object.hasOwn(why, reason)

const noProxy = (target: Target, proxy: Proxy.Proxy, error: unknown): Effect.Effect<never, Failed> => {
  const address = Proxy.address(proxy)
  const reason = Transport.reason(requestError(address, error))
  return failed(
    `the proxy ${address} ${isExplained(reason) ? why[reason] : "did not respond"}`,
    `Check scheme, host and port in ${proxy.variable}, or add ${target.host} to NO_PROXY if this machine may connect ` +
      "directly."
  )
}

const refusal = (target: Target, proxy: Proxy.Proxy, status: number): Effect.Effect<never, Failed> => {
  const server = authority(target)
  return failed(
    `the proxy ${Proxy.address(proxy)} returned ${status}`,
    status === 407
      ? Option.isSome(proxy.authorization)
        ? `Correct the user and the password of the proxy in ${proxy.variable}.`
        : `Add a user and a password to ${proxy.variable}: http://USER:PASSWORD@HOST:PORT.`
      : status >= 500
      ? `The proxy could not reach ${server}: check the host in ${target.variable}, then ask the administrator of the proxy.`
      : `Ask the administrator of the proxy to allow CONNECT to ${server}, or add ${target.host} to NO_PROXY if this machine ` +
        "may connect directly."
  )
}

const throughProxy = (target: Target, proxy: Proxy.Proxy) =>
  Effect.async<Net.Socket, Failed>((resume) => {
    const { request } = proxy.secure ? Https : Http
    const connecting = request({
      agent: false,
      method: "CONNECT",
      host: bare(proxy.hostname),
      port: proxy.port,
      path: authority(target),
      headers: {
        host: authority(target),
        ...Option.match(proxy.authorization, {
          onNone: () => ({}),
          onSome: (authorization) => ({ "proxy-authorization": Redacted.value(authorization) })
        })
      }
    })
    connecting.once("connect", ({ statusCode = 0 }, socket) => {
      socket.on("error", () => socket.destroy())
      if (statusCode >= 200 && statusCode < 300) return resume(Effect.succeed(socket))
      socket.destroy()
      resume(refusal(target, proxy, statusCode))
    })
    connecting.on("error", (error) => resume(noProxy(target, proxy, error)))
    connecting.end()
    return Effect.sync(() => connecting.destroy())
  })

/** Opens a connection to a server, through its proxy if it has one. It is closed with the scope. */
export const open = (target: Target): Effect.Effect<Net.Socket, Failed, Scope.Scope> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.tap(
      restore(Option.match(target.proxy, {
        onNone: () => direct(target),
        onSome: (proxy) => throughProxy(target, proxy)
      })),
      (socket) => Effect.addFinalizer(() => Effect.sync(() => socket.destroy()))
    )
  )

/** Connects to a server, directly or through its proxy. */
export const check = (target: Target): Effect.Effect<Finding, Failed> =>
  Effect.scoped(Effect.map(open(target), () =>
    ok(
      Option.match(target.proxy, {
        onNone: () => `connected to ${authority(target)}`,
        onSome: (proxy) => `connected to ${authority(target)} through the proxy ${Proxy.address(proxy)}`
      }),
      undefined
    )))
