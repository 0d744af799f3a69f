// Publishes what `run tarballs` has packed: every tarball under a temporary tag first, then the tags that users see, one after the other.
// Each step can be repeated, so a run that broke off is completed by the next one. Uses Node and npm only, because the job
// that runs it has the right to publish, which no dependency's code may have.
//
//   node tools/release/publish.mjs FOLDER [--provenance]
//
// npm reads the registry and the token from its own settings.

import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"

/** Packages wait under this tag until all of them are published. */
const waiting = "waiting"

const [folder, ...options] = process.argv.slice(2)
if (folder === undefined || options.some((option) => option !== "--provenance")) {
  console.error("Usage: node tools/release/publish.mjs FOLDER [--provenance]")
  process.exit(2)
}

/** @type {ReadonlyArray<{ name: string, version: string, tag: string, file: string, integrity: string }>} */
const releases = JSON.parse(readFileSync(join(folder, "release.json"), "utf8"))

/** @param {ReadonlyArray<string>} args */
const npm = (...args) => execFileSync("npm", args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] })

/**
 * A field of a package in the registry, or nothing.
 *
 * @param {string} spec
 * @param {string} field
 */
const known = (spec, field) => {
  try {
    const text = npm("view", spec, field, "--json", "--prefer-online")
    return text.trim() === "" ? undefined : JSON.parse(text)
  } catch (error) {
    if (error instanceof Error && "stderr" in error && /E404|No match found/.test(String(error.stderr))) {
      return undefined
    }
    throw error
  }
}

/** @param {Error & { stderr?: string }} error */
const reasonOf = (error) =>
  (error.stderr ?? error.message).split("\n").filter((line) => !line.startsWith("npm notice")).join("\n")

try {
  for (const { file, integrity } of releases) {
    const digest = `sha512-${createHash("sha512").update(readFileSync(join(folder, file))).digest("base64")}`
    if (digest !== integrity) throw new Error(`${file} is not the file that was packed. Nothing was published.`)
  }

  for (const { file, integrity, name, version } of releases) {
    const published = known(`${name}@${version}`, "dist.integrity")
    if (published === integrity) {
      console.log(`there already  ${name}@${version}`)
      continue
    }
    if (published !== undefined) throw new Error(`The registry has another ${name}@${version}. Release a new version.`)
    npm("publish", join(folder, file), "--access", "public", "--tag", waiting, ...options)
    console.log(`published      ${name}@${version}`)
  }

  for (const { name, tag, version } of releases) {
    if (known(name, "dist-tags")?.[tag] === version) continue
    npm("dist-tag", "add", `${name}@${version}`, tag)
    console.log(`tagged         ${name}@${version} ${tag}`)
  }

  for (const name of new Set(releases.map((release) => release.name))) {
    if (known(name, "dist-tags")?.[waiting] !== undefined) npm("dist-tag", "rm", name, waiting)
  }
} catch (error) {
  console.error(error instanceof Error ? reasonOf(error) : error)
  console.error("The release is not complete. Run the same command again to complete it.")
  process.exitCode = 1
}
