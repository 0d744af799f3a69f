import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

/** The place of a file of this repository. */
export const root = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url))

export const read = (path: string): string => readFileSync(root(path), "utf8")
