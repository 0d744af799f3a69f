import { FetchHttpClient } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"

/** The three transports that the platform has for Node. */
export const everyTransport = [
  ["fetch", FetchHttpClient.layer],
  ["node:http", NodeHttpClient.layer],
  ["undici", NodeHttpClient.layerUndici]
] as const

export type TransportName = (typeof everyTransport)[number][0]

/** Of rows with one for each transport, those that this tier tests: all in `test:transports` and the system tier, and `node:http` in the first tier. */
export const tested = <Row extends readonly [name: TransportName, ...others: ReadonlyArray<unknown>]>(
  rows: ReadonlyArray<Row>
): ReadonlyArray<Row> =>
  process.env["EVERY_TRANSPORT"] === undefined ? rows.filter(([name]) => name === "node:http") : rows

/** The transports that this tier tests. */
export const transports = tested(everyTransport)
