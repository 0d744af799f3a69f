import { buildSync } from "esbuild"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"

// outside of a test run, such as in the soak, the process ends by itself
const folder = mkdtempSync(join(process.env["TEST_RUN_FOLDER"] ?? tmpdir(), "credit-data-programs-"))
process.once("exit", () => rmSync(folder, { recursive: true, force: true }))

const bundles = new Map<string, string>()

/**
 * Bundles a TypeScript program, once for each file, so that each start of it takes a quarter of the time. The bundle is removed
 * when the test run ends, or this process.
 */
export const bundle = (file: string): string => {
  const known = bundles.get(file)
  if (known !== undefined) return known
  const outfile = join(folder, String(bundles.size), basename(file).replace(/\.ts$/, ".mjs"))
  buildSync({
    entryPoints: [file],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "error",
    // some dependencies of the platform are CommonJS and call `require`
    banner: { js: "import{createRequire as toRequire}from'node:module';const require=toRequire(import.meta.url);" }
  })
  bundles.set(file, outfile)
  return outfile
}
