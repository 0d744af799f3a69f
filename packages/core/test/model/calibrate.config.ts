import { defineConfig } from "vitest/config"
import { bugs } from "./bugs.ts"

const bug = bugs[Number(process.env["PLANTED_BUG"])]

/** Runs the model-based test with one bug planted in memory: no file is changed. */
export default defineConfig({
  plugins: [{
    name: "plant-a-bug",
    enforce: "pre",
    transform(code, id) {
      if (bug === undefined || !id.endsWith(`/core/src/internal/${bug.file}.ts`)) return undefined
      if (!code.includes(bug.find)) throw new Error(`There is no place for this bug any more: ${bug.name}`)
      return { code: code.replace(bug.find, bug.put), map: null }
    }
  }],
  test: { root: "packages/core", include: ["test/model/*.nightly.test.ts"], testTimeout: 60_000 }
})
