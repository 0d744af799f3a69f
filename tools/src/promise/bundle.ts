// Writes `lib` of the package for Promises, which has no dependencies: from its sources for Effect 4, with what they use inside. CommonJS has
// the code and ESM passes it on, so that a process that uses both has one `connect` and one class of each error. The arguments are the
// folder of the sources for Effect 4, and the folder of the package.

import { build } from "esbuild"
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { rollup } from "rollup"
import { rollUp } from "./types.ts"

const [sources = "", target = ""] = process.argv.slice(2).map((folder) => resolve(folder))
const lib = join(target, "lib")
const { name, version }: { readonly name: string; readonly version: string } = JSON.parse(
  readFileSync(join(target, "package.json"), "utf8")
)
rmSync(lib, { recursive: true, force: true })
mkdirSync(lib)
const temporary = mkdtempSync(join(tmpdir(), "promise-"))
process.once("exit", () => rmSync(temporary, { recursive: true, force: true }))

const { metafile } = await build({
  entryPoints: [join(sources, "packages/promise/src/index.ts")],
  absWorkingDir: target,
  outfile: join(temporary, "index.js"),
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  // names and lines remain, because they are in the stacks of errors
  minifySyntax: true,
  legalComments: "none",
  metafile: true,
  plugins: [{
    // a bundler that writes ESM leaves a `require` in CommonJS as it is, where there is none
    name: "modules of Node",
    setup: (build) => {
      build.onResolve({ filter: /^node:/ }, ({ path }) => ({ path, namespace: "node" }))
      build.onLoad({ filter: /.*/, namespace: "node" }, ({ path }) => ({
        contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)})`
      }))
    }
  }, {
    name: "version",
    setup: (build) =>
      // the `User-Agent` names the package that was installed, and not the one inside
      build.onLoad(
        { filter: /core[\\/]src[\\/]internal[\\/]version\.ts$/ },
        () => ({ contents: `export const version = ${JSON.stringify(version)}` })
      )
  }]
})
writeFileSync(join(lib, "meta.json"), JSON.stringify(metafile))

// esbuild keeps each class of Effect with a static or a computed member, and what it uses: 3 % of a program
const shaken = await rollup({ input: join(temporary, "index.js") })
const { output: [{ exports: names }] } = await shaken.write({
  file: join(lib, "index.cjs"),
  format: "cjs",
  generatedCode: "es2015"
})
const exported = names.toSorted()
writeFileSync(join(lib, "index.js"), `export { ${exported.join(", ")} } from "./index.cjs"\n`)

for (const entry of ["browser", "workerd"]) {
  await build({
    entryPoints: [join(sources, `packages/core/src/internal/${entry}.cts`)],
    outfile: join(lib, `${entry}.cjs`),
    format: "cjs",
    target: "node20"
  })
}

const declarations = join(temporary, "types")
const inside = join(sources, "packages/promise")
const ownTypeScript = resolve(import.meta.dirname, "../../../node_modules/.bin/tsc")
const single = ["--emitDeclarationOnly", "--composite", "false", "--incremental", "false", "--declarationMap", "false"]
execFileSync(ownTypeScript, ["-p", inside, "--outDir", declarations, ...single], { stdio: "inherit" })
const types = rollUp(declarations)
writeFileSync(join(lib, "index.d.cts"), types)
// one declaration of each class, as there is one class
writeFileSync(join(lib, "index.d.ts"), `export * from "./index.cjs"\n`)
console.log(`${name} ${version}: ${exported.join(", ")}`)
