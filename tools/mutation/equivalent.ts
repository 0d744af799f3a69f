/** A mutant that no test can kill, because the program behaves in the same way with it. */
export interface Equivalent {
  readonly file: string
  /** The text that the mutant replaces. */
  readonly from: string
  readonly to: string
  readonly reason: string
}

export const equivalent: ReadonlyArray<Equivalent> = []
