import { assert, it } from "@effect/vitest"
import { readFileSync } from "node:fs"

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8")

it.each(["examples/src/first-program.ts", "packages/integration/test/readmeExample.test.ts"])(
  "the README shows %s as it runs",
  (path) => assert.include(read("README.md"), `\`\`\`ts\n${read(path)}\`\`\``)
)
