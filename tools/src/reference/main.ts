// Writes the reference tables into the pages, from what the code exports and declares: a page has `<!-- table: NAME -->` where it
// wants the table of this name, and `<!-- /table -->` after it. With `--check` it writes nothing and exits with 1 if a page is stale.

import { readdirSync, writeFileSync } from "node:fs"
import { read, root } from "./files.ts"

const isCheck = process.argv.includes("--check")

const pages = [
  "README.md",
  ...readdirSync(root("docs")).filter((file) => file.endsWith(".md")).map((file) => `docs/${file}`),
  ...readdirSync(root("packages")).map((folder) => `packages/${folder}/README.md`)
]

const marked = /(?<=^<!-- table: (.*) -->\n)[^]*?(?=^<!-- \/table -->$)/gm

/** The tables, or nothing after the reason was printed. An error of a table names what to change. */
const texts = await import("./tables.ts").then(({ tables }) => tables()).catch((error: unknown): never => {
  const isPlain = error instanceof Error && /^(\(FiberFailure\) )?(Error|SyntaxError)$/.test(error.name)
  console.error(isPlain ? error.message : error)
  console.error("The reference tables cannot be written. After that: npx -y pnpm@10.34.9 run write:reference")
  process.exit(1)
})
const unused = new Set(Object.keys(texts))
const stale: Array<string> = []

for (const page of pages) {
  const before = read(page)
  const after = before.replaceAll(marked, (old, name: string) => {
    const text = texts[name]
    if (text === undefined) throw new Error(`${page}: there is no table "${name}"`)
    unused.delete(name)
    const table = `\n${text}\n\n`
    if (table !== old) stale.push(`${page}: ${name}`)
    return table
  })
  if (after !== before && !isCheck) writeFileSync(root(page), after)
}

if (unused.size > 0) throw new Error(`no page has these tables: ${[...unused].join(", ")}`)
if (stale.length === 0) console.log("The reference tables are up to date.")
else if (!isCheck) console.log(`Wrote these reference tables:\n${stale.join("\n")}`)
else {
  console.error(
    `These tables are stale:\n${stale.join("\n")}\nRun, and review: npx -y pnpm@10.34.9 run write:reference`
  )
  process.exitCode = 1
}
