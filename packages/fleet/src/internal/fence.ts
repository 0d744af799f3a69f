import * as Option from "effect/Option"
import type { Look } from "../StoreEngine.ts"

/** The fence of the value in an entry, or a lower one than any value has. */
export const fenceIn = ({ value }: Look): number =>
  Option.match(value, { onNone: () => 0, onSome: ({ fence }) => fence })
