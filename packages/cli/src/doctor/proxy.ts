import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"

// Decides as the transport of this program does: undici's EnvHttpProxyAgent, and no proxy for loopback addresses.

/** A forward proxy. Its user information is kept apart, so that it is never printed. */
export interface Proxy {
  /** The variable that names it. */
  readonly variable: string
  readonly secure: boolean
  readonly hostname: string
  readonly port: number
  /** The value of `Proxy-Authorization`. */
  readonly authorization: Option.Option<Redacted.Redacted>
}

type Variables = Readonly<Record<string, string | undefined>>

/** The address without user information. */
export const address = ({ hostname, port, secure }: Proxy): string =>
  `${secure ? "https" : "http"}://${hostname}:${port}`

export const portOf = (url: URL): number => url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port)

const authorizationOf = ({ password, username }: URL): Option.Option<Redacted.Redacted> =>
  username === "" && password === ""
    ? Option.none()
    : Option.some(Redacted.make(
      `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString("base64")}`
    ))

const parse = (variable: string, text: string): Either.Either<Proxy, string> =>
  Either.try({
    try: () => {
      const url = new URL(text)
      // an unencoded # or / in a password moves the rest of the address here, and the user name into the host
      const isWhole = /^https?:$/.test(url.protocol) && url.pathname === "/" && url.search === "" && url.hash === ""
      return isWhole
        ? Option.some({
          variable,
          secure: url.protocol === "https:",
          hostname: url.hostname,
          port: portOf(url),
          authorization: authorizationOf(url)
        })
        : Option.none()
    },
    catch: () => undefined
  }).pipe(
    Either.flatMap(Either.fromOption(() => undefined)),
    Either.mapLeft(() =>
      `${variable}: expected http://HOST:PORT or http://USER:PASSWORD@HOST:PORT, special characters percent-encoded`
    )
  )

/** The first of these variables that is set. An empty variable hides the next, and names no proxy. */
const first = (variables: Variables, names: ReadonlyArray<string>): Either.Either<Option.Option<Proxy>, string> =>
  Option.match(Arr.findFirst(names, (name) => variables[name] !== undefined), {
    onNone: () => Either.right(Option.none()),
    onSome: (name) => {
      const text = variables[name] ?? ""
      return text === "" ? Either.right(Option.none()) : Either.map(parse(name, text), Option.some)
    }
  })

const isExcluded = (noProxy: string, url: URL): boolean => {
  const host = url.host.replace(/:\d*$/, "").toLowerCase()
  return noProxy === "*" || noProxy.split(/[,\s]/).some((entry) => {
    if (entry === "") return false
    const [, name = entry, port] = /^(.+):(\d+)$/.exec(entry) ?? []
    const excluded = name.replace(/^\*?\./, "").toLowerCase()
    return (port === undefined || Number(port) === portOf(url)) &&
      (host === excluded || host.endsWith(`.${excluded}`))
  })
}

/** A proxy would get what is sent to this machine in plain text. undici's NO_PROXY does not support address ranges. */
export const isLoopback = ({ hostname }: URL): boolean => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)

/** Reads the variables of forward proxies. Returns the proxy of a URL, or the problems, without the values. */
export const read: Effect.Effect<Either.Either<(url: URL) => Option.Option<Proxy>, ReadonlyArray<string>>> = Effect
  .sync(() => {
    const http = first(process.env, ["http_proxy", "HTTP_PROXY"])
    const https = first(process.env, ["https_proxy", "HTTPS_PROXY"])
    if (Either.isLeft(http) || Either.isLeft(https)) return Either.left(Arr.getLefts([http, https]))
    const noProxy = process.env["no_proxy"] ?? process.env["NO_PROXY"] ?? ""
    return Either.right((url) =>
      isLoopback(url) || isExcluded(noProxy, url)
        ? Option.none()
        : url.protocol === "https:"
        ? Option.orElse(https.right, () => http.right)
        : http.right
    )
  })
