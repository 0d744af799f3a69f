import * as Either from "effect/Either"

/** A base URL, taken apart once, for the getters of a `URL` take their time on every call. */
export interface Base {
  readonly protocol: string
  readonly host: string
  readonly hostname: string
  readonly origin: string
  readonly pathname: string
  /** Without a slash at its end. */
  readonly href: string
}

export const parseBase = (baseUrl: string): Base => {
  const { host, hostname, href, origin, pathname, protocol } = new URL(baseUrl)
  return { protocol, host, hostname, origin, pathname, href: href.replace(/\/$/, "") }
}

/** Does a path stay beneath the base, also for a server that decodes slashes before it looks at dots? */
const isBeneath = (base: Base, path: string): boolean => {
  const decoded = new URL(base.origin + path.replace(/%2f|%5c/gi, "/")).pathname
  return base.pathname === "/" || [path, decoded].every((each) => `${each}/`.startsWith(`${base.pathname}/`))
}

/** Nothing in such a URL can be read in two ways: the parser isn't asked, for it takes its time on every call. */
const isPlainPath = (url: string): boolean => /^\/[\w-][\w/?&=+,-]*$/.test(url)

/**
 * Where a request goes: to the base URL's origin, or nowhere. Whether a URL names a host is for the URL parser to say, and
 * for no pattern of ours, so that every spelling which it takes for another host is refused.
 */
export const target = (base: Base, url: string): Either.Either<string, string> => {
  if (isPlainPath(url)) return Either.right(base.href + url)
  const nowhere = new URL(`${base.protocol}//base.invalid`)
  if (!URL.canParse(url) && !URL.canParse(url, nowhere.href)) return Either.left("This isn't a URL")
  const named = URL.canParse(url) ? new URL(url) : new URL(url, nowhere)
  if (named.origin !== nowhere.origin) {
    return named.protocol === base.protocol && named.host === base.host && named.username === "" &&
        named.password === ""
      ? Either.right(named.href)
      : Either.left(`A token is sent to ${base.origin} alone: use a relative URL, or one of that origin`)
  }
  const separator = /^([?#]|$)/.test(url) ? "" : "/"
  const beneath = new URL(`${base.href}${separator}${url.replace(/^\//, "")}`)
  return isBeneath(base, beneath.pathname)
    ? Either.right(beneath.href)
    : Either.left(`The path leaves ${base.href}`)
}
