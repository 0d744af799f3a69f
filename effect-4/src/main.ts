// Writes the packages and their tests for Effect 4 into `generated`: by rules, or from an override where rules are not enough.

import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { exceptions } from "../exceptions.ts"
import { folders, manifest } from "../packages.ts"
import { local } from "../rules.ts"
import { type Counts, examplesIn, rewrite, rewriteExamples, rewritePage, unmatched } from "./rewrite.ts"

const here = fileURLToPath(new URL("../", import.meta.url))
const root = join(here, "..")
const target = join(here, "generated")
const ledger = join(here, "overrides/originals.json")

const isSource = (file: string) => /\.(ts|cts)$/.test(file)

/** The files of a folder that are in the repository, or will be. */
const filesIn = (folder: string): ReadonlyArray<string> =>
  execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", folder], {
    cwd: root,
    encoding: "utf8"
  })
    .split("\n")
    .filter((file) => file !== "" && existsSync(join(root, file)))

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
  filesIn("effect-4/overrides").filter(isSource).map((file) => file.replace("effect-4/overrides/", ""))
)
const originals: Readonly<Record<string, string>> = JSON.parse(readFileSync(ledger, "utf8"))
const accepted: Record<string, string> = {}
const isAccepting = process.argv.includes("--accept")

/** A test file whose exceptions are skipped. */
const withoutExceptions = (file: string, text: string): string =>
  exceptions.filter((exception) => exception.file === file).reduce((current, { test }) => {
    const without = current.replaceAll(new RegExp(`\\bit(\\.\\w+)?(?=\\(\\s*${JSON.stringify(test)})`, "g"), "$&.skip")
    if (without === current) problems.push(`${file} has no test "${test}" any more. Remove it from exceptions.ts.`)
    return without
  }, text)

/** The code of what users read is type-checked too, each piece as its own module. */
const writeExamples = (file: string, text: string, language = "ts") => {
  for (const [index, code] of examplesIn(text, language).entries()) {
    writeFileSync(
      join(target, "documents", `${file.replaceAll("/", "-")}-${language.replace(" ", "-")}-${index}.ts`),
      `${code}\nexport {}\n`
    )
  }
}

const write = (file: string, text: string) => {
  mkdirSync(dirname(join(target, file)), { recursive: true })
  writeFileSync(join(target, file), text)
  if (/^packages\/[\w-]+\/(src\/|README)/.test(file)) writeExamples(file, text)
}

rmSync(join(target, "documents"), { recursive: true, force: true })
mkdirSync(join(target, "documents"), { recursive: true })
for (const page of ["README.md", ...filesIn("docs").filter((file) => file.endsWith(".md"))]) {
  const text = readFileSync(join(root, page), "utf8")
  const rewritten = rewriteExamples(page, text, counts)
  writeExamples(page, rewritten)
  writeExamples(page, text, "ts effect-4")
  // the site shows the code of both lines
  mkdirSync(dirname(join(target, page)), { recursive: true })
  writeFileSync(join(target, page), rewritten)
}

for (const folder of folders) {
  // what is installed remains
  for (const name of existsSync(join(target, folder)) ? readdirSync(join(target, folder)) : []) {
    if (name !== "node_modules") rmSync(join(target, folder, name), { recursive: true })
  }
  for (const file of filesIn(folder)) {
    if (file === `${folder}/package.json`) {
      write(file, `${JSON.stringify(manifest(JSON.parse(readFileSync(join(root, file), "utf8"))), undefined, 2)}\n`)
    } else if (overrides.delete(file)) {
      const blob = blobOf(readFileSync(join(root, file), "utf8"))
      if (isAccepting) accepted[file] = blob
      else if (originals[file] !== blob) {
        problems.push(
          `${file} has changed since its override was written. Change effect-4/overrides/${file} likewise, then run ` +
            `the generator with --accept.\n${differenceSince(originals[file] ?? "", file)}`
        )
      }
      cpSync(join(here, "overrides", file), join(target, file))
    } else if (file.endsWith(".md")) write(file, rewritePage(file, readFileSync(join(root, file), "utf8"), counts))
    else if (isSource(file)) {
      write(file, withoutExceptions(file, rewrite(file, readFileSync(join(root, file), "utf8"), counts)))
    } else {
      mkdirSync(dirname(join(target, file)), { recursive: true })
      cpSync(join(root, file), join(target, file))
    }
  }
}

cpSync(join(root, "tsconfig.base.json"), join(target, "tsconfig.base.json"))
for (const folder of folders.filter((folder) => folder.startsWith("packages/"))) {
  cpSync(join(root, "LICENSE"), join(target, folder, "LICENSE"))
}

for (const file of overrides) {
  problems.push(
    `effect-4/overrides/${file} has no original any more. Move it to the new path of its original, or remove it.`
  )
}
const isLost = (file: string) => !existsSync(join(root, file))
for (
  const [list, files] of [["rules", Object.keys(local)], [
    "exceptions",
    exceptions.map(({ file }) => file)
  ]] as const
) {
  for (const file of new Set(files.filter(isLost))) {
    problems.push(
      `effect-4/${list}.ts names ${file}, which does not exist any more. Change its path there, or remove it.`
    )
  }
}
for (const rule of unmatched(counts, isLost)) {
  problems.push(`This rule in effect-4/rules.ts matches nothing any more. Remove it: ${rule}`)
}
if (isAccepting) {
  writeFileSync(
    ledger,
    `${
      JSON.stringify(Object.fromEntries(Object.entries(accepted).toSorted(([a], [b]) => a < b ? -1 : 1)), undefined, 2)
    }\n`
  )
}
if (problems.length > 0) {
  console.error(problems.join("\n\n"))
  process.exitCode = 1
} else console.log(`Wrote ${folders.join(", ")} for Effect 4.`)
