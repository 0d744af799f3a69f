// Writes the console as one page. With `--check` it writes nothing and exits with 1 if the page is stale.

import * as AccessScope from "@credit-data/core/AccessScope"
import { build, transform } from "esbuild"
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const text = (path: string) => readFileSync(file(path), "utf8")

const target = ["chrome123", "firefox120", "safari17.5"]

const bundled = await build({
  entryPoints: [file("main.ts")],
  bundle: true,
  charset: "utf8",
  define: { SCOPES: JSON.stringify(AccessScope.all) },
  format: "esm",
  // the package has no side effects, but its page has
  ignoreAnnotations: true,
  logLevel: "warning",
  minify: true,
  target,
  write: false
})
const script = bundled.outputFiles.map(({ text }) => text.trim()).join("")

const { code: css } = await transform(text("style.css"), { loader: "css", minify: true, target })

/** esbuild changes neither the names nor the white space of custom properties. */
const properties = [...new Set(css.match(/--[a-z]+/g))]
const style = css.trim()
  .replace(/--[a-z]+/g, (name) => `--${properties.indexOf(name)}`)
  .replace(/(?<=--\d+:) |(?<=,) (?=#)| (?=\/)|(?<=\/) /g, "")

/** White space between tags has no meaning in this page, and an attribute without special characters needs no quotes. */
const page = text("index.html")
  .replace(/\s+/g, " ")
  .replace(/> (?=<)/g, ">")
  .replace(/ (?=<(option|\/select|p|\/form|\/div))/g, "")
  .replace(/="([\w./:-]+)"/g, "=$1")
  .trim()

const html = page
  .replace("></style>", () => `>${style}</style>`)
  .replace("></script>", () => `>${script}</script>`)

const content = `\
// Built from packages/simulator/page. Write it again: npx -y pnpm@10.34.9 run write:console
export const html = ${JSON.stringify(html)}
`

const generated = "../src/internal/admin/page.generated.ts"

if (!process.argv.includes("--check")) {
  writeFileSync(file(generated), content)
  console.log(`Wrote the page: ${Buffer.byteLength(html)} bytes.`)
} else if (text(generated) !== content) {
  console.error("The page of the console is stale. Run: npx -y pnpm@10.34.9 run write:console")
  process.exitCode = 1
}
