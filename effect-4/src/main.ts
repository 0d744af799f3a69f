// Writes the packages and their tests for Effect 4 into `generated`: by rules, or from an override where rules are not enough.

import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { exceptions } from "../exceptions.ts"
import { folders, manifest } from "../packages.ts"
import { type Counts, rewrite, ruleNames } from "./rewrite.ts"

const here = fileURLToPath(new URL("../", import.meta.url))
const root = join(here, "..")
const target = join(here, "generated")
const ledger = join(here, "overrides/originals.json")

const isSource = (file: string) => /\.(ts|cts)$/.test(file)
const filesIn = (folder: string): ReadonlyArray<string> =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !/[\\/](node_modules|dist|docs|\.\w+)([\\/]|$)/.test(entry.parentPath))
      .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll("\\", "/"))
    : []

/** The id that git gives to a text. */
const blobOf = (text: string) => createHash("sha1").update(`blob ${Buffer.byteLength(text)}\0${text}`).digest("hex")

const differenceSince = (blob: string, file: string): string => {
  try {
    return execFileSync("git", ["diff", "--no-color", blob, `:${file}`], { cwd: root, encoding: "utf8" })
  } catch {
    return `(the version ${blob} is not in this clone)`
  }
}

const problems: Array<string> = []
const counts: Counts = new Map()
const overrides = new Set(
  filesIn(join(here, "overrides")).filter(isSource).map((file) => file.replace("effect-4/overrides/", ""))
)
const originals: Record<string, string> = JSON.parse(readFileSync(ledger, "utf8"))
const isAccepting = process.argv.includes("--accept")

/** A test file whose exceptions are skipped. */
const withoutExceptions = (file: string, text: string): string =>
  exceptions.filter((exception) => exception.file === file).reduce((current, { test }) => {
    const without = current.replaceAll(new RegExp(`\\bit(\\.\\w+)?(?=\\(\\s*${JSON.stringify(test)})`, "g"), "$&.skip")
    if (without === current) problems.push(`${file} has no test "${test}" any more. Remove it from exceptions.ts.`)
    return without
  }, text)

const write = (file: string, text: string) => {
  mkdirSync(dirname(join(target, file)), { recursive: true })
  writeFileSync(join(target, file), text)
}

for (const folder of folders) {
  // what is installed stays
  for (const name of existsSync(join(target, folder)) ? readdirSync(join(target, folder)) : []) {
    if (name !== "node_modules") rmSync(join(target, folder, name), { recursive: true })
  }
  for (const file of filesIn(join(root, folder))) {
    if (file === `${folder}/package.json`) {
      write(file, `${JSON.stringify(manifest(JSON.parse(readFileSync(join(root, file), "utf8"))), undefined, 2)}\n`)
    } else if (overrides.delete(file)) {
      const blob = blobOf(readFileSync(join(root, file), "utf8"))
      if (isAccepting) originals[file] = blob
      else if (originals[file] !== blob) {
        problems.push(
          `${file} has changed since its override was written. Change effect-4/overrides/${file} likewise, then run ` +
            `the generator with --accept.\n${differenceSince(originals[file] ?? "", file)}`
        )
      }
      cpSync(join(here, "overrides", file), join(target, file))
    } else if (isSource(file)) write(file, withoutExceptions(file, rewrite(readFileSync(join(root, file), "utf8"), counts)))
    else {
      mkdirSync(dirname(join(target, file)), { recursive: true })
      cpSync(join(root, file), join(target, file))
    }
  }
}

cpSync(join(root, "tsconfig.base.json"), join(target, "tsconfig.base.json"))

for (const file of overrides) problems.push(`effect-4/overrides/${file} has no original any more. Remove it.`)
for (const rule of ruleNames.filter((name) => !counts.has(name))) {
  problems.push(`This rule in effect-4/rules.ts matches nothing any more. Remove it: ${rule}`)
}
if (isAccepting) {
  writeFileSync(
    ledger,
    `${
      JSON.stringify(Object.fromEntries(Object.entries(originals).toSorted(([a], [b]) => a < b ? -1 : 1)), undefined, 2)
    }\n`
  )
}
if (problems.length > 0) {
  console.error(problems.join("\n\n"))
  process.exitCode = 1
} else console.log(`Wrote ${folders.join(", ")} for Effect 4.`)
