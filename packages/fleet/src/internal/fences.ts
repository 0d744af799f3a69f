import * as Option from "effect/Option"
import type { Slots } from "../TokenStore.ts"
import type { Place } from "./envelope.ts"

/** The highest fence of these values, or 0 if there are none. */
export const highestOf = ({ Failure, Token }: Slots): number =>
  Math.max(0, ...[Token, Failure].flatMap(Option.toArray).map(({ fence }) => fence))

/** The highest fences that this process has seen. Values with lower ones come from a replica that lags behind, or from a backup. */
export interface Fences {
  readonly see: (name: string, place: Place) => void
  /** Was the value overtaken? Every token also overtakes the failures before it. */
  readonly isOld: (name: string, place: Place) => boolean
  /** The highest fence of an entry. */
  readonly highest: (name: string) => number
}

const none = { Token: 0, Failure: 0 }

export const make = (): Fences => {
  // only the present entry counts: its name changes when the client secret is rotated
  let current = { name: "", fences: none }
  const of = (name: string) => current.name === name ? current.fences : none
  return {
    see: (name, { fence, slot }) => {
      const fences = of(name)
      current = { name, fences: { ...fences, [slot]: Math.max(fences[slot], fence) } }
    },
    isOld: (name, { fence, slot }) => fence < of(name)[slot] || (slot === "Failure" && fence < of(name).Token),
    highest: (name) => Math.max(of(name).Token, of(name).Failure)
  }
}
