import { Console, Effect, Schema } from "effect"
import { readFile, writeFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { firstMessage, startProcess } from "../childServer.ts"
import { allMet, heading, plot, table } from "./report.ts"
import { Result } from "./result.ts"

const results = fileURLToPath(new URL("../results/", import.meta.url))

/** Measures all libraries, prints the table, writes it with its plot, and returns whether every threshold was met. */
export const compare = (machine: string): Effect.Effect<boolean, unknown> =>
  Effect.gen(function*() {
    const url = yield* startProcess("peers/tokenServer.js")
    const measured = yield* Effect.flatMap(
      firstMessage("peerFigures.js", [url]),
      Schema.decodeUnknown(Schema.Array(Result))
    )
    const page = table(machine, measured)
    const [head = ""] = (yield* Effect.promise(() => readFile(`${results}peers.md`, "utf8"))).split(heading)
    yield* Effect.promise(() => writeFile(`${results}peers.md`, `${head}${page}`))
    yield* Effect.promise(() => writeFile(`${results}peers.svg`, plot(measured)))
    yield* Console.log(page)
    return allMet(measured)
  }).pipe(Effect.scoped)
