// Lets faults happen to a fleet of real processes, first with a store on Redis and then with one in files, and judges what the token
// endpoint and the API recorded. Arguments: how long in all (`60s`, `10m`, `1h`), a seed, and a part of the names of the faults that
// happen. Exits with 1 if a rule was broken.

import { NodeRuntime } from "@effect/platform-node"
import { Console, Duration, Effect, Logger, Random } from "effect"
import { judge } from "./judge.ts"
import { soak, type Store } from "./soak.ts"

const mostPrinted = 20

const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 }
const [length = "10m", seed = String(Math.floor(Math.random() * 1e9)), only = ""] = process.argv.slice(2)
const [, count, unit] = /^(\d+)([smh])$/.exec(length) ?? []
if (count === undefined || unit === undefined) {
  console.error("Usage: soak [60s|10m|1h] [seed] [part of a fault's name]")
  process.exit(2)
}
const total = Duration.millis(Number(count) * (units[unit] ?? 0))

const run = Effect.fnUntraced(function*(store: Store) {
  yield* Console.log(`\n20 processes with a store ${store === "redis" ? "on Redis" : "in files"}`)
  const { figures, violations } = judge(
    yield* Effect.scoped(
      soak(store, { duration: Duration.times(total, 0.5), only, random: Random.make(`${seed} ${store}`) })
    )
  )
  yield* Console.log("")
  for (const [name, value] of Object.entries(figures)) yield* Console.log(`${name.padEnd(34)} ${value}`)
  for (const violation of violations.slice(0, mostPrinted)) yield* Console.log(`BROKEN  ${violation}`)
  if (violations.length > mostPrinted) yield* Console.log(`BROKEN  and ${violations.length - mostPrinted} more times`)
  return violations.length
})

Effect.gen(function*() {
  yield* Console.log(`Seed ${seed}`)
  const broken = (yield* run("redis")) + (yield* run("files"))
  if (broken > 0) process.exitCode = 1
}).pipe(
  Effect.provide(Logger.remove(Logger.defaultLogger)),
  NodeRuntime.runMain({ disablePrettyLogger: true })
)
