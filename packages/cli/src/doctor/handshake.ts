import { within } from "@credit-data/core/Internal"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { isIP, type Socket } from "node:net"
import * as Tls from "node:tls"
import { codeOf } from "../text.ts"
import * as Connection from "./connection.ts"
import { date, failed, type Finding, instant, length, ok, skipped, warning } from "./step.ts"
import { explained, type Target } from "./target.ts"

/** A certificate that expires within this time is reported. */
const soon = 30 * 24 * 60 * 60 * 1_000

const unfinished = (target: Target, error: unknown): Effect.Effect<never, Finding> => {
  const { advice, hint, reason } = explained(target, error)
  return failed(
    `the handshake failed (${codeOf(error)})`,
    reason === "Reset"
      ? `Check that the port in ${target.variable} is an https port, and that no firewall blocks TLS to ${target.host}.`
      : reason === "Tls" && hint === undefined
      ? `Ask the operator whether ${target.host} requires a client certificate, and which ciphers and versions of TLS and HTTP it accepts.`
      : advice
  )
}

/** Within this time, a server of TLS 1.3 sends a session ticket, or refuses a client that has no certificate. */
const ticketTimeLimit = "500 millis"

const event = (socket: Tls.TLSSocket, name: "secureConnect" | "session") =>
  Effect.async<void>((resume) => {
    socket.once(name, () => resume(Effect.void))
  })

/** Shakes hands whatever the certificate is, because it is examined afterwards. Nothing is sent over the connection. */
const handshake = Effect.fnUntraced(
  function*(target: Target, socket: Socket): Effect.fn.Return<Tls.TLSSocket, Finding> {
    const failure = yield* Deferred.make<never, Finding>()
    const secured = Tls.connect({
      socket,
      host: target.host,
      ...(isIP(target.host) === 0 ? { servername: target.host } : {}),
      ALPNProtocols: ["http/1.1"],
      rejectUnauthorized: false
    })
    secured.on("error", (error) => Deferred.unsafeDone(failure, unfinished(target, error)))
    const refused = Deferred.await(failure)
    yield* Effect.raceFirst(event(secured, "secureConnect"), refused)
    // a later refusal can be lost, because undici sends its request before it reads the alert
    if (secured.getProtocol() === "TLSv1.3") {
      yield* Effect.raceFirst(Effect.raceFirst(event(secured, "session"), Effect.sleep(ticketTimeLimit)), refused)
    }
    return secured
  }
)

/** The server's certificate, and the certificates of its authorities. The last certificate names itself as its issuer. */
const chainOf = (socket: Tls.TLSSocket): ReadonlyArray<Tls.DetailedPeerCertificate> => {
  const chain: Array<Tls.DetailedPeerCertificate> = []
  let next: Tls.DetailedPeerCertificate | undefined = socket.getPeerCertificate(true)
  while (next?.valid_to !== undefined && !chain.includes(next)) {
    chain.push(next)
    next = next.issuerCertificate
  }
  return chain
}

/** The name of an authority or a host, cut, because a foreign server wrote it. */
const nameIn = (name: Partial<Tls.Certificate> | undefined): string =>
  [name?.O ?? [], name?.CN ?? []].flat().join(" ").slice(0, 80) || "an unnamed authority"

const expiryOf = ({ valid_to: validTo }: Tls.DetailedPeerCertificate): number => Date.parse(validTo)

/** The names that a certificate is for, without their kind. */
const hostsOf = ({ subject, subjectaltname }: Tls.DetailedPeerCertificate): string =>
  subjectaltname?.replaceAll(/\w+( Address)?:/g, "").slice(0, 80) ?? nameIn(subject)

/** A server that does not respond to a handshake within this time speaks plain HTTP. */
const plainTimeLimit = "1 second"

/** An address with http is for this machine only. Its port may be an https port, which only ends the connection. */
const checkPlain = (target: Target): Effect.Effect<Finding, Finding, Scope.Scope> =>
  Connection.open(target).pipe(
    Effect.flatMap((socket) => handshake(target, socket)),
    within(plainTimeLimit, () => undefined),
    Effect.matchEffect({
      onFailure: () => Effect.succeed(skipped("plain http to this machine")),
      onSuccess: () =>
        failed(
          `port ${target.port} speaks TLS, and the address begins with http`,
          `Change the beginning of ${target.variable} to https, or correct its port.`
        )
    })
  )

/** Examines the certificates of a server. */
export const check = Effect.fnUntraced(function*(target: Target): Effect.fn.Return<Finding, Finding, Scope.Scope> {
  if (!target.secure) return yield* checkPlain(target)
  const { host, variable } = target
  const secured = yield* Effect.flatMap(Connection.open(target), (socket) => handshake(target, socket))
  const chain = chainOf(secured)
  const [own] = chain
  if (own === undefined) return yield* failed("the server sent no certificate", "Contact the operator.")
  const now = yield* Clock.currentTimeMillis
  const issuer = nameIn(own.issuer)
  const first = chain.reduce((a, b) => expiryOf(b) < expiryOf(a) ? b : a)
  const whose = first === own ? "the certificate" : `the certificate of ${nameIn(first.subject)}`
  const [expiry, left] = [expiryOf(first), expiryOf(first) - now]
  const clock = `If the clock of this machine is right (it shows ${instant(now)}), ask the operator`
  // the code with which Node refuses the certificate; an older Node has other types
  const error: unknown = secured.authorizationError
  const refusal = secured.authorized ? undefined : typeof error === "string" ? error : codeOf(error)
  switch (refusal) {
    case undefined:
      return left < soon
        ? warning(
          `${whose} expires in ${length(left)}, on ${date(expiry)}; issued by ${issuer}`,
          `Ask the operator to renew ${whose} before ${date(expiry)}.`
        )
        : ok(`trusted, ${length(left)} left, issued by ${issuer}`)
    case "CERT_HAS_EXPIRED":
      return yield* failed(
        `${whose} expired ${length(-left)} ago, on ${date(expiry)}`,
        `${clock} to renew the certificate.`
      )
    case "CERT_NOT_YET_VALID":
      return yield* failed("the certificate is not valid yet", `${clock} about the certificate.`)
    case "ERR_TLS_CERT_ALTNAME_INVALID":
      return yield* failed(
        `the certificate is for ${hostsOf(own)}, not for ${host}`,
        `Correct the host in ${variable}; if it is right, DNS or a proxy leads to another server.`
      )
    default:
      return yield* failed(
        `the certificate is not trusted (${refusal}), issued by ${issuer}`,
        "If this issuer belongs to your company, set NODE_EXTRA_CA_CERTS to a file with its certificate; otherwise check " +
          `the host in ${variable}, and ask the operator whether the server sends its whole chain.`
      )
  }
}, Effect.scoped)
