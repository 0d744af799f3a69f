// Searches run a fifth of their cases in README's test command, always the same ones. Other modes run all of them, as vitest.workspace.ts says.

const share = process.env["SEARCHES"] === "complete" ? 1 : 5

/** How often fast-check runs a property. */
export const runs = (all: number): { readonly numRuns: number; readonly seed?: number } =>
  share === 1 ? { numRuns: all } : { numRuns: Math.ceil(all / share), seed: 20_261_128 }

/** The cases that are run. Each `start` has others, so that a table of searches has all of them. */
export const sample = <A>(cases: ReadonlyArray<A>, start = 0): ReadonlyArray<A> =>
  cases.filter((_, index) => index % share === start % share)
