import { Path } from "@effect/platform"
import { Effect } from "effect"
import { build } from "esbuild"
import { gzipSync } from "node:zlib"
import { CommandFailed } from "@credit-data/tools/run"

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

/** The sizes of the bundles in bytes, compressed by gzip. */
export interface Sizes {
  readonly token: number
  /** The program without tokens. */
  readonly floor: number
}

/**
 * Bundles a program with a token and one call, and the same program without tokens. Fails if the ratio of the sizes exceeds
 * the threshold, or if the first bundle has a package that the second does not have, other than these packages.
 */
export const compareBundles = Effect.fnUntraced(function*(folder: string, bar: number) {
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
  const sizes: Sizes = { token: token.bytes, floor: floor.bytes }
  return { figures, sizes }
})

/** The largest allowed ratio of a bundle on Effect 4 to the bundle on Effect 3. The part of these packages may not be larger. */
const barBetweenLines = 0.75

/** Compares the bundles on Effect 3 and on Effect 4. */
export const compareLines = (three: Sizes, four: Sizes) => {
  const ratio = four.token / three.token
  const own = (sizes: Sizes) => sizes.token - sizes.floor
  const figures = `Effect 4: ${ratio.toFixed(2)} × Effect 3, at most ${barBetweenLines}; ` +
    `our packages: ${own(four)} bytes, on Effect 3 ${own(three)}`
  return ratio > barBetweenLines || own(four) > own(three)
    ? Effect.fail(new CommandFailed(`The bundle is too large: ${figures}`))
    : Effect.succeed(figures)
}
