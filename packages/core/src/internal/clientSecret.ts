import * as Either from "effect/Either"
import { flow } from "effect/Function"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as field from "./field.ts"

/** A file that contains a secret usually ends with one line break, which is not part of the secret. */
export const clientSecret: (value: unknown) => field.Parsed<Redacted.Redacted> = flow(
  (value) => Predicate.isString(value) ? value.replace(/\r?\n$/, "") : value,
  field.text,
  Either.map((text) => Redacted.make(text))
)
