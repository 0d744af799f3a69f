import { defineConfig } from "vitest/config"

/** Slow tests find nothing that the others don't: a mutant must be judged in a second or two. */
const slow = [
  "take any",
  "take a good response",
  "equal its model's",
  "10 minutes",
  "10 000",
  "slow listener",
  "leaves while an event",
  "shorter than any window",
  "nested 200 000",
  "starts one renewal in the background, at once",
  "of any size",
  "there is a place for the bug",
  "a fleet of four processes",
  "at the price of more token requests"
]

/** With a real Redis, which has no virtual time, these take three seconds and more. */
const slowOnRedis = [
  "continues with the promoted replica"
]

const name = process.env["MUTATED_PACKAGE"]
const left = name === "store-redis" ? slowOnRedis : slow

/** Tests with real servers take long too. The store on Redis has no others. */
const systemTests = name === "store-redis" ? [] : ["**/*.system.test.ts"]

export default defineConfig({
  test: {
    root: `packages/${name}`,
    include: ["test/**/*.test.ts"],
    exclude: ["**/*.nightly.test.ts", ...systemTests],
    testNamePattern: new RegExp(`^(?!.*(${left.join("|")}))`),
    testTimeout: 10_000,
    // the modules of Effect are loaded once, and not for each file of each mutant
    isolate: false
  }
})
