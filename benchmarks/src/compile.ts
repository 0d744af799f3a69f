// Bundles the benchmarks together with the packages. Each program that runs as a separate process is an entry point.

import { build, type BuildOptions } from "esbuild"
import { effect3, effect4, type Line } from "./packages.ts"

const options = ({ alias, folder }: Line): BuildOptions => ({
  absWorkingDir: folder,
  outdir: "dist",
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20",
  packages: "external",
  alias,
  logLevel: "warning"
})

await build({
  ...options(effect3),
  splitting: true,
  entryPoints: [
    "src/main.ts",
    "src/server.ts",
    "src/promiseServer.ts",
    "src/faultyServer.ts",
    "src/tlsServer.ts",
    "src/transportClient.ts",
    "src/idleServer.ts",
    "src/line/line.ts",
    "src/peerFigures.ts",
    "src/peers/tokenServer.ts"
  ]
})

await build({ ...options(effect4), entryPoints: ["src/line/line.ts"] })
