// Runs Stryker on one package after the other: those that are named, or all library packages, which are those without a command.
// Exits with 1 if a package has a mutation score below 90 %. It edits the sources while it runs.

import { spawnSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"

const named = process.argv.slice(2)
const libraries = () =>
  readdirSync("packages").filter((name) =>
    !("bin" in JSON.parse(readFileSync(`packages/${name}/package.json`, "utf8")))
  )
const packages = named.length > 0 ? named : libraries()

const failed = packages.filter((name) => {
  console.log(`\n== ${name}`)
  const { status } = spawnSync(
    "node_modules/.bin/stryker",
    ["run", "tools/mutation/stryker.config.mjs"],
    {
      env: { ...process.env, MUTATED_PACKAGE: name },
      stdio: "inherit"
    }
  )
  return status !== 0
})

if (failed.length > 0) console.error(`Below 90 %, or not run: ${failed.join(", ")}`)
process.exitCode = failed.length > 0 ? 1 : 0
