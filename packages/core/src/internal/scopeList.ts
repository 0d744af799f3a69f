import * as Arr from "effect/Array"
import * as Either from "effect/Either"
import type * as field from "./field.ts"

/** The three scopes, in the order of the contract. */
export const all = ["data-access:all", "furnishment:all", "serviceplus:all"] as const

/** Each scope once, in the order of the contract. */
export const parse = (names: Iterable<string>): field.Parsed<Arr.NonEmptyReadonlyArray<typeof all[number]>> => {
  const given = new Set(names)
  const refused = Either.left(`Expected one or more of ${all.join(", ")}, separated by spaces`)
  return Arr.match(all.filter((scope) => given.has(scope)), {
    onEmpty: () => refused,
    onNonEmpty: (known) => known.length === given.size ? Either.right(known) : refused
  })
}
