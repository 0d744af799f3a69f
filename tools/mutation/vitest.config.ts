import { defineConfig } from "vitest/config"

/** Tests that take long find nothing that the others don't: a mutant is to be judged in a second or two. */
const slow = [
  "take any",
  "take a good answer",
  "those of its model",
  "10 minutes",
  "10 000",
  "slow listener",
  "leaves while an event",
  "shorter than any window",
  "nested 200 000",
  "starts one renewal in the background, at once",
  "of any size",
  "there is a place for the bug",
  "a fleet of four processes"
]

export default defineConfig({
  test: {
    root: `packages/${process.env["MUTATED_PACKAGE"]}`,
    include: ["test/**/*.test.ts"],
    exclude: ["**/*.nightly.test.ts"],
    testNamePattern: new RegExp(`^(?!.*(${slow.join("|")}))`),
    testTimeout: 10_000
  }
})
