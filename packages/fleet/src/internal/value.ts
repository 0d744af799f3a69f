import * as Option from "effect/Option"
import type { Look } from "../TokenStore.ts"

/** The fence of the value in an entry, or a lower one than any value has. */
export const fenceIn = ({ value }: Look): number =>
  Option.match(value, { onNone: () => 0, onSome: ({ fence }) => fence })

/** The maximum size of a value in bytes. */
export const maxValueSize: number = 256 * 1024
