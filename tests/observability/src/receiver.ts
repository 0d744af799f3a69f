import { listen } from "@credit-data/test-support/listen"
import root from "@opentelemetry/otlp-transformer/build/src/generated/root.js"
import { Effect, Predicate } from "effect"
import { createServer } from "node:http"

/** What the compiled definitions have for each message. They have no types. */
interface MessageType {
  readonly decode: (bytes: Uint8Array) => object
  readonly fromObject: (json: object) => object
  readonly toObject: (message: object, options: object) => Record<string, unknown>
  readonly verify: (message: object) => string | null
}

const messageType = (signal: "logs" | "metrics" | "trace", name: string): MessageType =>
  // oxlint-disable-next-line typescript/no-explicit-any -- the compiled definitions have no types
  ["opentelemetry", "proto", "collector", signal, "v1", name].reduce<any>((within, key) => within[key], root)

/** The requests of OTLP, compiled from the official .proto files. */
const types = {
  "/v1/traces": messageType("trace", "ExportTraceServiceRequest"),
  "/v1/metrics": messageType("metrics", "ExportMetricsServiceRequest"),
  "/v1/logs": messageType("logs", "ExportLogsServiceRequest")
}

type Path = keyof typeof types

const isPath = (path: string | undefined): path is Path => path !== undefined && Object.hasOwn(types, path)

/** A request of an exporter that could be decoded, as plain objects, and its bytes. */
interface Export {
  readonly path: Path
  readonly message: Record<string, unknown>
  readonly bytes: Buffer
}

const options = { longs: String, enums: String, bytes: String }

/** In OTLP's JSON, ids are hexadecimal, while Protocol Buffers' JSON uses base64. */
const withBytes = (key: string, value: unknown): unknown =>
  /^(traceId|spanId|parentSpanId)$/.test(key) && typeof value === "string" && /^[0-9a-f]*$/.test(value)
    ? Buffer.from(value, "hex").toString("base64")
    : value

const decode = (path: Path, contentType: string | undefined, bytes: Buffer): Record<string, unknown> => {
  const type = types[path]
  if (contentType === "application/x-protobuf") return type.toObject(type.decode(bytes), options)
  if (contentType !== "application/json") throw new Error(`content type ${contentType}`)
  const json: Record<string, unknown> = JSON.parse(bytes.toString("utf8"), withBytes)
  const wrong = type.verify(type.toObject(type.fromObject(json), { longs: Number, bytes: Array }))
  if (wrong !== null) throw new Error(wrong)
  return type.toObject(type.fromObject(json), options)
}

/** A collector that decodes what it gets. It records why it refuses a request. */
export const make = Effect.gen(function*() {
  const exports: Array<Export> = []
  const refused: Array<string> = []
  const port = yield* listen(createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      try {
        const path = request.url
        if (!isPath(path)) throw new Error(`path ${path}`)
        const bytes = Buffer.concat(chunks)
        exports.push({ path, message: decode(path, request.headers["content-type"], bytes), bytes })
        response.writeHead(200).end()
      } catch (error) {
        refused.push(String(error))
        response.writeHead(400).end()
      }
    })
  }))
  return { url: `http://127.0.0.1:${port}`, exports, refused }
})

/** All objects in a message that have this property. */
export const having = (value: unknown, property: string): ReadonlyArray<Readonly<Record<string | symbol, unknown>>> => {
  if (Array.isArray(value)) return value.flatMap((each) => having(each, property))
  if (!Predicate.isReadonlyRecord(value)) return []
  return [...(property in value ? [value] : []), ...Object.values(value).flatMap((each) => having(each, property))]
}
