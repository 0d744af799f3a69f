import * as Predicate from "effect/Predicate"
import { printable } from "./printable.ts"

/** What our own checks expect. None of them quotes a value, in contrast to the checks of others. */
const reasons = new Set<string>()

/** Marks a reason as one that may be printed. */
export const ownReason = (reason: string): string => {
  reasons.add(reason)
  return reason
}

/** What our own checks report about a variable, a line each, or about an option. */
const problemsIn = (text: string): ReadonlyArray<string> =>
  Array.from(text.matchAll(/^- (\w+(?: is missing)?): (.*)$|(?:at |^)([\w.]+): "([^"]*)"/gm)).flatMap(
    ([, variable, expected = "", option, reason = ""]) =>
      variable !== undefined
        ? variable.endsWith(" is missing") || reasons.has(expected) ? [`${variable}: ${expected}`] : []
        : reasons.has(reason)
        ? [`${option}: ${reason}`]
        : []
  )

/** Why something could not be read. Whatever else a failure says could be a secret. */
export const faultOf = (failure: unknown): string => {
  const name = Predicate.hasProperty(failure, "_tag") && Predicate.isString(failure._tag)
    ? failure._tag
    : Predicate.isError(failure)
    ? failure.name
    : "an unknown failure"
  const problems = name === "ConfigError" ? problemsIn(String(failure)) : []
  return problems.length === 0 ? printable(name) : problems.join("; ")
}
