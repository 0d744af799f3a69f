import { rspack } from "@rspack/core"

const output = { path: `${import.meta.dirname}/with-rspack`, filename: "program.cjs", library: { type: "commonjs2" } }
const compiler = rspack({
  mode: "production",
  target: "node",
  context: import.meta.dirname,
  entry: "./program.js",
  output
})
compiler.run((error, stats) => {
  if (error ?? stats?.hasErrors() ?? stats?.hasWarnings()) {
    console.error(error ?? stats?.toString())
    process.exitCode = 1
  }
})
