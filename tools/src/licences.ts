// Writes the licences of the packages whose code a bundle contains. Arguments: the metafile of esbuild, the file to write, and its first words,
// which name the bundle.

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

const [metafile = "", target = "", what = ""] = process.argv.slice(2)
const { inputs }: { readonly inputs: Readonly<Record<string, unknown>> } = JSON.parse(readFileSync(metafile, "utf8"))

/** The folder of the package that a file belongs to. */
const folderOf = (file: string): string | undefined => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0]

const texts = new Map<string, string>()
for (const folder of new Set(Object.keys(inputs).map(folderOf))) {
  // the packages of this project have the licence of the bundle
  if (folder === undefined) continue
  const { license, name, version }: { name: string; version: string; license?: string } = JSON.parse(
    readFileSync(join(folder, "package.json"), "utf8")
  )
  const file = readdirSync(folder).find((each) => /^licen[cs]e(\.\w+)?$/i.test(each))
  if (file === undefined && license === undefined) throw new Error(`${name} has no licence.`)
  const text = file === undefined ? `Licence: ${license}` : readFileSync(join(folder, file), "utf8").trim()
  texts.set(`${name} ${version}`, text)
}
if (texts.size === 0 || !existsSync(dirname(target))) throw new Error("The metafile names no packages.")

const parts = Array.from(texts, ([name, text]) => `${name}\n\n${text}\n`).toSorted()
writeFileSync(
  target,
  `${what} contains code of the following packages.\n\n${"=".repeat(80)}\n${parts.join(`\n${"=".repeat(80)}\n`)}`
)
