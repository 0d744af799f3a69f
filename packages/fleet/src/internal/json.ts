import { flow } from "effect/Function"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

/** Decodes JSON from outside. None if it is anything else. */
export const decodeJson = <A>(schema: Schema.Schema<A>): (text: string) => Option.Option<A> =>
  flow(
    Option.liftThrowable((text: string): unknown => JSON.parse(text)),
    Option.flatMap(Schema.decodeUnknownOption(schema))
  )
