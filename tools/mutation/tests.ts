import { readdirSync } from "node:fs"
import { resolve } from "node:path"

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
  "continues with the promoted replica",
  "reports why there is no connection",
  "slot moves to another node",
  "works again within 5 s"
]

const name = process.env["MUTATED_PACKAGE"]
const isOnRedis = name === "store-redis"
const left = isOnRedis ? slowOnRedis : slow

/** The longest time that a test may take, in milliseconds. */
export const testTimeout = 10_000

/** How long a test may wait for something outside of its process, in milliseconds. */
export const longestWait = isOnRedis ? 5_000 : 1_000

export const isSlow = (test: string): boolean => left.some((part) => test.includes(part))

/** The files of a package's tests. Tests with real servers take long too. The store on Redis has no others. */
export const testFiles = (): ReadonlyArray<string> =>
  readdirSync(`packages/${name}/test`, { recursive: true, encoding: "utf8" })
    .filter((file) =>
      file.endsWith(".test.ts") && !/\.(alone|nightly)\./.test(file) && (isOnRedis || !/\.system\./.test(file))
    )
    .toSorted()
    .map((file) => resolve(`packages/${name}/test`, file))
