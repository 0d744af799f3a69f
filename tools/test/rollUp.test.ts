import { assert, it } from "@effect/vitest"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { rollUp } from "../src/promise/types.ts"

/** Rolls up these declarations, with an index that exports each. */
const rolledUp = (modules: Record<string, string>): string => {
  const folder = mkdtempSync(join(tmpdir(), "roll-up-"))
  try {
    const index = Object.keys(modules).map((module) => `export * from "./${module}.ts";\n`)
    for (const [module, text] of Object.entries({ index: index.join(""), ...modules })) {
      writeFileSync(join(folder, `${module}.d.ts`), text)
    }
    return rollUp(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

it("the public types become one file, in which each module finds the others", () => {
  const text = rolledUp({
    A: "/** About A. */\nimport type { B } from \"./B.ts\";\nexport declare const a: B;",
    B: "/// <reference lib=\"esnext.disposable\" />\n/** About B. */\n/** About it. */\ndeclare const hidden: 1;\nexport interface B {\n}\nexport {};"
  })
  assert.strictEqual(
    text,
    "/// <reference lib=\"esnext.disposable\" />\nexport declare const a: B;\n/** About it. */\ndeclare const hidden: 1;\n" +
      "export interface B {\n}\nexport {}\n"
  )
})

it("types of Node are imported once, wherever the program's types come from", () => {
  const module = (name: string) => `import type { Agent } from "node:http";\nexport declare const ${name}: Agent;`
  assert.strictEqual(
    rolledUp({ A: module("a"), B: module("b") }),
    "/// <reference types=\"node\" />\nimport type { Agent } from \"node:http\";\nexport declare const a: Agent;\n" +
      "export declare const b: Agent;\nexport {}\n"
  )
})

it("a public type that names another package or an internal module is refused", () => {
  const faulty = [
    "import type * as Effect from \"effect/Effect\";\nexport declare const a: Effect.Effect<void>;",
    "import type { TokenError } from \"@credit-data/core/TokenError\";\nexport declare const a: TokenError;",
    "import type { A } from \"./internal/a.ts\";\nexport declare const a: A;",
    "export { A } from \"@credit-data/core/A\";",
    "export * from \"effect/Effect\";",
    "export declare const a: import(\"effect/Effect\").Effect<void>;",
    "import type { Agent as A } from \"node:http\";\nexport declare const a: A;",
    "export { Agent } from \"node:http\";",
    "export declare const a: typeof import(\"node:http\");",
    "import type { B as C } from \"./A.ts\";\nexport declare const a: C;"
  ]
  for (const text of faulty) assert.throws(() => rolledUp({ A: text }), /packages\/promise\/src\/A\.ts: /, text)
})
