import * as Either from "effect/Either"

/** The parts of a base URL. They are read once, because the getters of a `URL` are too slow for every call. */
export interface Base {
  readonly protocol: string
  readonly host: string
  readonly hostname: string
  readonly origin: string
  readonly pathname: string
  /** Without a trailing slash. */
  readonly href: string
}

export const parseBase = (baseUrl: string): Base => {
  const { host, hostname, href, origin, pathname, protocol } = new URL(baseUrl)
  return { protocol, host, hostname, origin, pathname, href: href.replace(/\/$/, "") }
}

/** Whether a path remains below the base path, even on a server that decodes slashes before it resolves dots. */
const isBeneath = (base: Base, path: string): boolean => {
  const decoded = new URL(base.origin + path.replace(/%2f|%5c/gi, "/")).pathname
  return base.pathname === "/" || [path, decoded].every((each) => `${each}/`.startsWith(`${base.pathname}/`))
}

/** Whether every parser reads this URL in the same way. Such a URL skips the parser, which is too slow for every call. */
const isPlainPath = (url: string): boolean => /^\/[\w-][\w/?&=+,-]*$/.test(url)

/**
 * The URL that a request is sent to, which always has the origin of the base URL; or the reason why it is refused. The URL
 * parser decides whether a URL names a host, and not our own pattern, so every spelling that the parser reads as another host
 * is refused.
 */
export const target = (base: Base, url: string): Either.Either<string, string> => {
  if (isPlainPath(url)) return Either.right(base.href + url)
  const nowhere = new URL(`${base.protocol}//base.invalid`)
  if (!URL.canParse(url) && !URL.canParse(url, nowhere.href)) return Either.left("This is not a URL")
  const named = URL.canParse(url) ? new URL(url) : new URL(url, nowhere)
  if (named.origin !== nowhere.origin) {
    return named.protocol === base.protocol && named.host === base.host && named.username === "" &&
        named.password === ""
      ? Either.right(named.href)
      : Either.left(`A token is sent only to ${base.origin}. Use a relative URL, or a URL of that origin`)
  }
  const separator = /^([?#]|$)/.test(url) ? "" : "/"
  const beneath = new URL(`${base.href}${separator}${url.replace(/^\//, "")}`)
  return isBeneath(base, beneath.pathname)
    ? Either.right(beneath.href)
    : Either.left(`The path leaves ${base.href}`)
}
