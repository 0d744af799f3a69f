// Bundles the benchmarks with the packages in them; a process of its own is an entry point.

import { build } from "esbuild"
import { fileURLToPath } from "node:url"
import { alias } from "./packages.ts"

await build({
  absWorkingDir: fileURLToPath(new URL("..", import.meta.url)),
  entryPoints: [
    "src/main.ts",
    "src/server.ts",
    "src/tlsServer.ts",
    "src/transportClient.ts",
    "src/idleServer.ts",
    "src/peers/tokenServer.ts"
  ],
  outdir: "dist",
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20",
  packages: "external",
  alias,
  logLevel: "warning"
})
