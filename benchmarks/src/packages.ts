import { readdirSync } from "node:fs"
import { fileURLToPath } from "node:url"

const top = fileURLToPath(new URL("../../", import.meta.url))

const sourcesIn = (folder: string): Record<string, string> =>
  Object.fromEntries(readdirSync(folder).map((name) => [`@credit-data/${name}`, `${folder}/${name}/src`]))

/** What is measured of a line of Effect. */
export interface Line {
  /** The folder whose `node_modules` have it. */
  readonly folder: string
  /** Leads a bundler to the sources of the packages, so that they are measured as they would be shipped. */
  readonly alias: Record<string, string>
}

export const effect3: Line = { folder: `${top}benchmarks`, alias: sourcesIn(`${top}packages`) }

export const effect4: Line = {
  folder: `${top}effect-4/generated/benchmarks`,
  alias: sourcesIn(`${top}effect-4/generated/packages`)
}
