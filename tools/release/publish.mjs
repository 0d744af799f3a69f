// Publishes what `run tarballs` has packed, in the order of the list, each tarball under its tag. A tarball that is already there is passed
// over, so a run that broke off is completed by the next one. Uses Node and npm only, because the job that runs it has the right to
// publish, which no dependency's code may have.
//
//   node tools/release/publish.mjs FOLDER
//
// npm reads the registry from its own settings, and the identity of the workflow or of the person who has logged in.

import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"

const [folder, ...surplus] = process.argv.slice(2)
if (folder === undefined || surplus.length > 0) {
  console.error("Usage: node tools/release/publish.mjs FOLDER")
  process.exit(2)
}

/** @type {ReadonlyArray<{ name: string, version: string, tag: string, file: string, integrity: string }>} */
const releases = JSON.parse(readFileSync(join(folder, "release.json"), "utf8"))

/** @param {ReadonlyArray<string>} args */
const npm = (...args) => execFileSync("npm", args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] })

/** @param {unknown} error */
const textOf = (error) => error instanceof Error && "stderr" in error ? String(error.stderr) : String(error)

/**
 * The hash of a version in the registry, or nothing.
 *
 * @param {string} spec
 */
const integrityOf = (spec) => {
  try {
    const text = npm("view", spec, "dist.integrity", "--json", "--prefer-online")
    return text.trim() === "" ? undefined : JSON.parse(text)
  } catch (error) {
    if (/E404|No match found/.test(textOf(error))) return undefined
    throw error
  }
}

/**
 * What to do after a failure of npm.
 *
 * @param {string} text
 */
const advice = (text) =>
  /E401|E403|E404|ENEEDAUTH|EOTP/.test(text)
    ? "npm did not accept the identity of this job. Check the package's trusted publisher on npm. A person publishes a package's " +
      "first version, as CONTRIBUTING.md describes."
    : "Run the same command again to complete the release."

/** @param {ReadonlyArray<string>} lines */
const fail = (...lines) => {
  for (const line of lines) console.error(line)
  process.exit(1)
}

for (const { file, integrity } of releases) {
  const digest = `sha512-${createHash("sha512").update(readFileSync(join(folder, file))).digest("base64")}`
  if (digest !== integrity) {
    fail(`${file} is not the file that was packed. Nothing was published. Pack the release again.`)
  }
}

for (const { file, integrity, name, tag, version } of releases) {
  try {
    const published = integrityOf(`${name}@${version}`)
    if (published === undefined) {
      npm("publish", join(folder, file), "--access", "public", "--tag", tag)
      console.log(`published      ${name}@${version} ${tag}`)
    } else if (published === integrity) {
      console.log(`there already  ${name}@${version}`)
    } else {
      fail(`The registry has another ${name}@${version}. Release a new version.`)
    }
  } catch (error) {
    const text = textOf(error).split("\n").filter((line) => !line.startsWith("npm notice")).join("\n")
    fail(text, `The release stopped at ${name}@${version}. ${advice(text)}`)
  }
}
