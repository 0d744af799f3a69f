import * as Either from "effect/Either"

// Where a call may go: to paths below the base URL.

/** Whether every parser reads this URL in the same way. Such a URL skips the parser, which is too slow for every call. */
const isPlainPath = (url: string): boolean => /^\/[\w-][\w/?&=+,-]*$/.test(url)

/**
 * The segments of a path as servers may read them, because some decode dots and slashes before they resolve `..`, and some drop the
 * parameters of a segment (`/..;/`). What is encoded twice is data. The URL parser ignores control characters and spaces.
 */
export const segmentsOf = (url: string): ReadonlyArray<string> =>
  url.replace(/[?#].*$/s, "").replace(/[\p{Cc} ]/gu, "").replace(/%2e/gi, ".").split(/[/\\]|%2f|%5c/i)
    .map((segment) => segment.replace(/(?:;|%3b).*$/is, ""))

/**
 * Where a request with this URL is sent, without its fragment and always to the origin of the base URL; or the reason why it is refused.
 * The base URL has no slash at its end. The URL parser decides whether a URL names a host, and not our own pattern, so every spelling
 * that the parser reads as another host is refused.
 */
export const makeTarget = (baseUrl: string): (url: string) => Either.Either<string, string> => {
  const base = new URL(baseUrl)
  const nowhere = new URL(`${base.protocol}//base.invalid`)
  const start = base.pathname.replace(/\/?$/, "/")
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
    if (segmentsOf(url).includes("..")) {
      return Either.left(
        "The path contains \"..\", perhaps encoded. If it is part of an id, check the id before the call"
      )
    }
    const separator = /^([?#]|$)/.test(url) ? "" : "/"
    const absolute = isRelative ? new URL(`${baseUrl}${separator}${url.replace(/^\//, "")}`) : named
    absolute.hash = ""
    return `${absolute.pathname}/`.startsWith(start)
      ? Either.right(absolute.href)
      : Either.left(`The path leaves ${baseUrl}`)
  }
}
