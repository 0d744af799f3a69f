import * as Either from "effect/Either"

/** Whether every parser reads this URL in the same way. Such a URL skips the parser, which is too slow for every call. */
const isPlainPath = (url: string): boolean => /^\/[\w-][\w/?&=+,-]*$/.test(url)

/**
 * Where a request with this URL is sent, which always has the origin of the base URL; or the reason why it is refused. The base URL has no
 * slash at its end. The URL parser decides whether a URL names a host, and not our own pattern, so every spelling that the parser reads
 * as another host is refused.
 */
export const makeTarget = (baseUrl: string): (url: string) => Either.Either<string, string> => {
  const base = new URL(baseUrl)
  const nowhere = new URL(`${base.protocol}//base.invalid`)
  const start = base.pathname.replace(/\/?$/, "/")
  /** Even on a server that decodes slashes or drops the parameters of a segment (`/..;/`) before it resolves dots. */
  const isBeneath = (path: string): boolean => {
    const decoded = path.replace(/%2f|%5c/gi, "/").replace(/;[^/]*/g, "").replace(/%3b[^/]*/gi, "")
    return [path, new URL(base.origin + decoded).pathname].every((each) => `${each}/`.startsWith(start))
  }
  return (url) => {
    if (isPlainPath(url)) return Either.right(baseUrl + url)
    if (!URL.canParse(url, nowhere)) return Either.left("This is not a URL")
    const named = URL.canParse(url) ? new URL(url) : new URL(url, nowhere)
    const isRelative = named.origin === nowhere.origin
    // not by its origin, which a `blob:` URL has too
    const isForeign = named.protocol !== base.protocol || named.host !== base.host
    if (!isRelative && (isForeign || named.username !== "" || named.password !== "")) {
      return Either.left(`A token is sent only to ${base.origin}. Use a relative URL, or a URL of that origin`)
    }
    const separator = /^([?#]|$)/.test(url) ? "" : "/"
    const absolute = isRelative ? new URL(`${baseUrl}${separator}${url.replace(/^\//, "")}`) : named
    return isBeneath(absolute.pathname) ? Either.right(absolute.href) : Either.left(`The path leaves ${baseUrl}`)
  }
}
