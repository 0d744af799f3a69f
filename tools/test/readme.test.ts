import { assert, it } from "@effect/vitest"
import { readFileSync } from "node:fs"

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8")

it.each([
  ["README.md", "examples/src/first-program.ts"],
  ["docs/get-started.md", "examples/src/first-program.ts"],
  ["docs/testing.md", "tests/integration/test/serverExample.test.ts"],
  ["packages/simulator/README.md", "tests/integration/test/readmeExample.test.ts"]
])("%s shows %s as it runs", (page, path) => assert.include(read(page), `\`\`\`ts\n${read(path)}\`\`\``))
