import * as Either from "effect/Either"
import { segmentsOf } from "./target.ts"

// The values in the path of a call.

/** Half of a surrogate pair, which cannot be encoded. */
const loneSurrogate = /\p{Cs}/u

/**
 * The path of a template with these values, each encoded, or the segment of the template whose values would make it another path: an
 * empty segment, `.` or `..`.
 */
export const expand = (
  template: string,
  values: Readonly<Record<string, string | number>>
): Either.Either<string, string> => {
  const path: Array<string> = []
  for (const segment of template.split("/")) {
    let isRefused = false
    const expanded = segment.replaceAll(/\{([^}]*)\}/g, (_, name: string) => {
      const value = Object.hasOwn(values, name) ? String(values[name] ?? "") : ""
      isRefused ||= value === "" || loneSurrogate.test(value)
      return isRefused ? "" : encodeURIComponent(value)
    })
    if (isRefused || (expanded !== segment && segmentsOf(expanded).some((each) => each === "." || each === ".."))) {
      return Either.left(segment)
    }
    path.push(expanded)
  }
  return Either.right(path.join("/"))
}

/** Why nothing was sent. It does not show the values. */
export const refusedValues = (segment: string): string =>
  `Its values make the segment ${segment} empty, "." or "..", or cannot be encoded, so nothing was sent`
