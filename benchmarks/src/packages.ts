import { readdirSync } from "node:fs"
import { fileURLToPath } from "node:url"

const folder = fileURLToPath(new URL("../../packages/", import.meta.url))

/** Leads a bundler to the sources of the packages, so that they are measured as they would be shipped. */
export const alias: Record<string, string> = Object.fromEntries(
  readdirSync(folder).map((name) => [`@credit-data/${name}`, `${folder}${name}/src`])
)
