import * as Predicate from "effect/Predicate"

/** The checks of this project never quote a value. Those of others may. */
const quotesValue = /\b(?:received|actual|got)\b/

/** What our own checks say about a variable, a line each, or about an option. */
const problemsIn = (text: string): ReadonlyArray<string> =>
  Array.from(
    text.matchAll(/^- (\w+(?:: Expected| is missing: ).*)$|(?:at |^)([\w.]+: "Expected [^"]*")/gm),
    ([, line, option]) => line ?? option ?? ""
  ).filter((problem) => !quotesValue.test(problem))

/** Why something could not be read. Whatever else a failure says could be a secret. */
export const faultOf = (failure: unknown): string => {
  const name = Predicate.hasProperty(failure, "_tag") && Predicate.isString(failure._tag)
    ? failure._tag
    : Predicate.isError(failure)
    ? failure.name
    : "an unknown failure"
  const problems = name === "ConfigError" ? problemsIn(String(failure)) : []
  return problems.length === 0 ? name : problems.join("; ")
}
