import { assert, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { bugs } from "./bugs.ts"

it.each(bugs.map(({ file, find, name }) => [name, file, find] as const))(
  "there is a place for the bug: %s",
  (_, file, find) => {
    const source = readFileSync(new URL(`../../src/internal/${file}.ts`, import.meta.url), "utf8")
    assert.include(source, find)
  }
)
