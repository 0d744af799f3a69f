import { Path } from "@effect/platform"
import { Effect } from "effect"
import { build } from "esbuild"
import { gzipSync } from "node:zlib"
import { CommandFailed } from "./run.ts"

/** How much larger a program's bundle may be for its tokens. */
const bar = 1.2

const bundle = (folder: string, file: string) =>
  Effect.map(
    Effect.promise(() =>
      build({
        absWorkingDir: folder,
        entryPoints: [file],
        bundle: true,
        minify: true,
        platform: "node",
        format: "esm",
        metafile: true,
        write: false
      })
    ),
    ({ metafile, outputFiles }) => ({
      bytes: gzipSync(outputFiles[0]?.contents ?? "").length,
      packages: new Set(
        Object.keys(metafile.inputs).flatMap((path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? [])
      )
    })
  )

/**
 * Bundles a token and one call, and the same program over Effect's HttpClient alone. Fails when the first is more than the
 * bar above the second, or brings a package along that the second doesn't, other than ours.
 */
export const compareBundles = Effect.fnUntraced(function*(folder: string) {
  const path = yield* Path.Path
  const floor = yield* bundle(folder, path.join(folder, "floor.ts"))
  const token = yield* bundle(folder, path.join(folder, "token.ts"))
  const ratio = token.bytes / floor.bytes
  const surplus = [...token.packages].filter((name) => !floor.packages.has(name) && !name.startsWith("@credit-data/"))
  const figures = `${token.bytes} bytes in gzip, ${
    ratio.toFixed(2)
  } × the ${floor.bytes} without tokens, at most ${bar}`
  if (surplus.length > 0) return yield* Effect.fail(new CommandFailed(`The bundle brings along ${surplus.join(" ")}`))
  if (ratio > bar) return yield* Effect.fail(new CommandFailed(`The bundle is too large: ${figures}`))
  return figures
})
