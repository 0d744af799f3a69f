import { Console, Effect, Schema } from "effect"
import { writeFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { makeCertificate } from "./certificate.ts"
import { firstMessage, startProcess } from "./childServer.ts"
import { grid, median } from "./report.ts"
import { calls } from "./transportCalls.ts"
import { allTransports } from "./transportLayers.ts"

const rounds = 3

const Figures = Schema.Struct({
  inFlight: Schema.Number,
  connections: Schema.Number,
  p50: Schema.Number,
  p99: Schema.Number,
  cpu: Schema.Number
})

/** Measures one transport with its own servers and its own process. */
const measure = Effect.fnUntraced(function*(name: string) {
  const { cert, key } = yield* makeCertificate
  const servers = yield* Effect.replicateEffect(startProcess("tlsServer.js", cert, key), 3, { concurrency: 3 })
  const message = yield* firstMessage("transportClient.js", [name, ...servers], { NODE_EXTRA_CA_CERTS: cert })
  const figures = yield* Schema.decodeUnknown(Schema.Array(Figures))(message)
  return figures.map((each) => ({ name, ...each }))
}, Effect.scoped)

const page = (machine: string, rows: ReadonlyArray<ReadonlyArray<string>>) =>
  [
    "# Transports compared",
    "",
    "`npx -y pnpm@10.34.9 bench transports` writes this page.",
    "",
    `${calls} calls through \`DataAccess.layer()\` to a server on the loopback interface, over TLS. Each figure is the median`,
    `of ${rounds} rounds. In each round, each transport runs in its own process. Lower is better.`,
    "",
    "The loopback interface has almost no latency. On a real network, each new connection also takes round trips for TCP and TLS.",
    "",
    machine,
    "",
    grid([
      ["transport", "calls in flight", "connections", "p50, ms", "p99, ms", "client CPU per call, µs"],
      ...rows
    ]),
    "",
    "The layers:",
    "",
    "- node:http: `NodeHttpClient.layer`.",
    "- fetch: `FetchHttpClient.layer`.",
    "- node:http with keep-alive: `NodeHttpClient.layerWithoutAgent`, provided with",
    "  `NodeHttpClient.makeAgentLayer({ keepAlive: true })`.",
    "- undici: `NodeHttpClient.layerUndici`.",
    ""
  ].join("\n")

/** Measures the transports in turns, prints the table and writes it to a file. */
export const transports = (machine: string): Effect.Effect<void, unknown> =>
  Effect.gen(function*() {
    const names = Object.keys(allTransports)
    const all = (yield* Effect.forEach(
      Array.from({ length: rounds }, () => names).flat(),
      measure
    )).flat()
    const rows = names.flatMap((name) =>
      Array.from(new Set(all.map(({ inFlight }) => inFlight))).map((inFlight) => {
        const own = all.filter((each) => each.name === name && each.inFlight === inFlight)
        return [
          name,
          String(inFlight),
          String(median(own.map(({ connections }) => connections))),
          median(own.map(({ p50 }) => p50)).toFixed(1),
          median(own.map(({ p99 }) => p99)).toFixed(1),
          median(own.map(({ cpu }) => cpu)).toFixed(0)
        ]
      })
    )
    const text = page(machine, rows)
    yield* Effect.promise(() => writeFile(fileURLToPath(new URL("../results/transports.md", import.meta.url)), text))
    yield* Console.log(text)
  })
