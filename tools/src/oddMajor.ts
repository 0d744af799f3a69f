// After `changeset version`: an even major version of a package becomes the next odd one, in its package.json, in its changelog and where
// other packages depend on it. The even ones belong to the packages for Effect 4, so that each line has room for a breaking release.
// The sources of core contain its version too, for the `User-Agent`. What contains the libraries gets an entry in its changelog if only they have changed.

import { FileSystem, Path } from "@effect/platform"
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Effect } from "effect"
import { published, root } from "./packages.ts"
import { isEven, odd, withLibraries, withOddMajor } from "./versions.ts"

const contains = ["packages/cli", "packages/promise"]

Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const top = yield* root
  for (const { folder } of yield* published) {
    const manifest = path.join(top, folder, "package.json")
    const text = yield* fs.readFileString(manifest)
    const version = /"version": "([^"]+)"/.exec(text)?.[1]
    if (version !== undefined && folder === "packages/core") {
      const source = path.join(top, folder, "src/internal/version.ts")
      const code = yield* fs.readFileString(source)
      yield* fs.writeFileString(source, code.replace(/"[^"]+"/, `"${odd(version)}"`))
    }
    const changelog = path.join(top, folder, "CHANGELOG.md")
    if (contains.includes(folder) && (yield* fs.exists(changelog))) {
      yield* fs.writeFileString(changelog, withLibraries(yield* fs.readFileString(changelog)))
    }
    if (version === undefined || !isEven(version)) continue
    yield* fs.writeFileString(manifest, text.replace(`"version": "${version}"`, `"version": "${odd(version)}"`))
    yield* fs.writeFileString(changelog, withOddMajor(yield* fs.readFileString(changelog), version))
  }
}).pipe(Effect.provide(NodeContext.layer), NodeRuntime.runMain)
