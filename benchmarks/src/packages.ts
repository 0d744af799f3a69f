import { readdirSync } from "node:fs"
import { fileURLToPath } from "node:url"

const top = fileURLToPath(new URL("../../", import.meta.url))

const sourcesIn = (folder: string): Record<string, string> =>
  Object.fromEntries(readdirSync(folder).map((name) => [`@credit-data/${name}`, `${folder}/${name}/src`]))

/** The packages for one major version of Effect. */
export interface Line {
  /** The folder whose `node_modules` have this version of Effect. */
  readonly folder: string
  /** Maps each package to its sources for the bundler, so the sources are measured as they would be published. */
  readonly alias: Record<string, string>
}

export const effect3: Line = {
  folder: `${top}benchmarks`,
  alias: sourcesIn(`${top}packages`)
}

export const effect4: Line = {
  folder: `${top}effect-4/generated/benchmarks`,
  alias: sourcesIn(`${top}effect-4/generated/packages`)
}
