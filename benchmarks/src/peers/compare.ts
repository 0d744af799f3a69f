import { Console, Effect, Schema } from "effect"
import { readFileSync } from "node:fs"
import { readFile, writeFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { firstMessage, startProcess } from "../childServer.ts"
import { versions } from "./peers.ts"
import { allMet, chart, heading, summary, table } from "./report.ts"
import { Result } from "./result.ts"

const results = fileURLToPath(new URL("../results/", import.meta.url))
const comparison = fileURLToPath(new URL("../../docs/compare.md", import.meta.url))

/** What `peers.json` contains. */
const Measured = Schema.parseJson(
  Schema.Struct({
    machine: Schema.String,
    versions: Schema.Record({ key: Schema.String, value: Schema.String }),
    results: Schema.Array(Result)
  }),
  { space: 2 }
)

const summaryMark = /(?<=^<!-- figures: peers -->\n)[^]*?(?=^<!-- \/figures -->$)/m

/** Writes the page of results, the chart, and the figures of the page that compares, from the last measurement. */
export const writeComparison: Effect.Effect<string, unknown> = Effect.gen(function*() {
  const { machine, results: measured, versions } = yield* Schema.decode(Measured)(
    readFileSync(`${results}peers.json`, "utf8")
  )
  const page = table(machine, versions, measured)
  const [head = ""] = (yield* Effect.promise(() => readFile(`${results}peers.md`, "utf8"))).split(heading)
  const compared = yield* Effect.promise(() => readFile(comparison, "utf8"))
  yield* Effect.promise(() => writeFile(`${results}peers.md`, `${head}${page}`))
  yield* Effect.promise(() => writeFile(`${results}peers.svg`, chart(measured)))
  yield* Effect.promise(() => writeFile(comparison, compared.replace(summaryMark, `\n${summary(measured)}\n\n`)))
  return page
})

/** Measures all libraries, writes and prints the results, and returns whether every threshold was met. */
export const compare = (machine: string): Effect.Effect<boolean, unknown> =>
  Effect.gen(function*() {
    const url = yield* startProcess("peers/tokenServer.js")
    const measured = yield* Effect.flatMap(
      firstMessage("peerFigures.js", [url]),
      Schema.decodeUnknown(Schema.Array(Result))
    )
    const text = yield* Schema.encode(Measured)({ machine, versions: versions(), results: measured })
    yield* Effect.promise(() => writeFile(`${results}peers.json`, `${text}\n`))
    yield* Console.log(yield* writeComparison)
    return allMet(measured)
  }).pipe(Effect.scoped)
