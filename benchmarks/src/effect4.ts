import type * as line from "./line/line.ts"

/** The same as `line/line.ts`, on Effect 4: bundled from what the generator has written. */
export const effect4: Promise<typeof line> = import(
  new URL("../../effect-4/generated/benchmarks/dist/line.js", import.meta.url).href
)
