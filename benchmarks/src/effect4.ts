import type * as line from "./line/line.ts"

/** The module `line/line.ts` on Effect 4, bundled from the generated sources. */
export const effect4: Promise<typeof line> = import(
  new URL("../../effect-4/generated/benchmarks/dist/line.js", import.meta.url).href
)
