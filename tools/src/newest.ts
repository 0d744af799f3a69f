// Checks the types and runs the first tier of both lines with the newest versions of Effect, including versions outside the
// ranges that the packages accept. What fails here will have to change before a range can grow.

import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseDocument } from "yaml"

/** As in pnpm-workspace.yaml: enough time for a tampered version to be noticed. */
const minimumAge = 3 * 24 * 3_600_000

const clone = mkdtempSync(join(tmpdir(), "newest-"))
process.once("exit", () => rmSync(clone, { recursive: true, force: true }))

const run = (folder: string, program: string, ...args: ReadonlyArray<string>): void => {
  console.log(`\n$ ${program} ${args.join(" ")}`)
  execFileSync(program, args, { cwd: join(clone, folder), stdio: "inherit" })
}

const pnpm = (folder: string, ...args: ReadonlyArray<string>): void => run(folder, "npx", "-y", "pnpm@10.34.9", ...args)

/** The newest stable version with the same major version. */
const newest = (name: string, present: string): string => {
  const times: Record<string, string> = JSON.parse(
    execFileSync("npm", ["view", name, "time", "--json"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] })
  )
  const [major] = present.split(".")
  const known = Object.entries(times).filter(([version, time]) =>
    /^\d+\.\d+\.\d+$/.test(version) && version.split(".")[0] === major && Date.now() - Date.parse(time) > minimumAge
  ).map(([version]) => version)
  return known.toSorted((a, b) => a.localeCompare(b, "en", { numeric: true })).at(-1) ?? present
}

/** Puts the newest versions of Effect into the catalog of a line. */
const update = (folder: string): void => {
  const file = join(clone, folder, "pnpm-workspace.yaml")
  const workspace = parseDocument(readFileSync(file, "utf8"))
  const catalog: Record<string, string> = workspace.toJS().catalog
  for (const [name, present] of Object.entries(catalog).filter(([name]) => /^(effect$|@effect\/)/.test(name))) {
    const version = newest(name, present)
    console.log(`${name} ${present}${version === present ? "" : ` -> ${version}`}`)
    workspace.setIn(["catalog", name], version)
  }
  writeFileSync(file, String(workspace))
  pnpm(folder, "install", "--no-frozen-lockfile", "--config.strict-peer-dependencies=false")
}

execFileSync("git", ["clone", "-q", "--no-hardlinks", ".", clone])

update(".")
pnpm(".", "exec", "tsc", "-b", "tsconfig.build.json")
pnpm(".", "exec", "tsc", "-p", "tsconfig.json")
pnpm(".", "test")

pnpm(".", "exec", "tsx", "effect-4/src/main.ts")
update("effect-4")
pnpm("effect-4", "run", "check")
pnpm("effect-4", "test")
