import { defineConfig } from "vitest/config"

/** The tests of core that take long find nothing that the others don't: a mutant is to be judged in a second or two. */
const slow = [
  "take any",
  "take a good answer",
  "against its model",
  "10 minutes",
  "10 000",
  "slow listener",
  "shorter than any window",
  "nested 200 000"
]

export default defineConfig({
  test: {
    root: "packages/core",
    include: ["test/**/*.test.ts"],
    testNamePattern: new RegExp(`^(?!.*(${slow.join("|")}))`),
    testTimeout: 10_000
  }
})
