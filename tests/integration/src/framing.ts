import { HttpBody, type HttpMethod } from "@effect/platform"
import { Effect, Stream } from "effect"
import type { TransportName } from "./transports.ts"

// Requests whose bodies a server could read as the next request, or as the end of the one before.

/** The methods with which a caller may send a body. */
export const methods: ReadonlyArray<HttpMethod.HttpMethod> = [
  "DELETE",
  "GET",
  "HEAD",
  "OPTIONS",
  "PATCH",
  "POST",
  "PUT"
]

/** What a gateway forwards of its own connection. */
export const forwarded: ReadonlyArray<Record<string, string>> = [
  {},
  { "content-length": "5" },
  { "content-length": "600" },
  { "content-length": "undefined" },
  { "transfer-encoding": "chunked" }
]

/** A text that is a request if the server does not read it as a body. */
const text = "AAAAA\r\nGET /second HTTP/1.1\r\nHost: a\r\n\r\n"
const bytes = new TextEncoder().encode(text)
const halves = Stream.make(bytes.slice(0, 10), bytes.slice(10))
const large = new File(["a".repeat(1_100_000)], "large.txt")

interface Row {
  readonly name: string
  readonly body: () => HttpBody.HttpBody
  /**
   * `Sent`: with every method. `NotUnframed`: not with the methods for which Node sends a body without a length as it is. `Broken`: no server
   * receives it completely.
   */
  readonly is: "Sent" | "NotUnframed" | "Broken"
  /** What a server receives as the body. */
  readonly received: RegExp
}

const row = (name: string, is: Row["is"], received: RegExp, body: Row["body"]): Row => ({ name, is, received, body })

const whole = new RegExp(`^${text}$`)
const chunked = /AAAAA\r?\n/

/** Each kind of body. */
export const bodies: ReadonlyArray<Row> = [
  row("no body", "Sent", /^$/, () => HttpBody.empty),
  row("an empty text", "Sent", /^$/, () => HttpBody.text("")),
  row("a text", "Sent", whole, () => HttpBody.text(text)),
  row("bytes", "Sent", whole, () => HttpBody.uint8Array(bytes)),
  row("a form", "Sent", /^a=1&b=2$/, () => HttpBody.urlParams([["a", "1"], ["b", "2"]])),
  row("a multipart form", "Sent", /name="a"\r\n\r\nAAAAA/i, () => HttpBody.formDataRecord({ a: text })),
  row(
    "a multipart form over 1 MiB",
    "NotUnframed",
    /filename="large.txt"/,
    () => HttpBody.formDataRecord({ a: large })
  ),
  row("a raw text", "Sent", whole, () => HttpBody.raw(text)),
  row("a raw text of another declared length", "Sent", whole, () => HttpBody.raw(text, { contentLength: 5 })),
  row("raw bytes", "Sent", whole, () => HttpBody.raw(bytes)),
  row("a raw buffer", "Sent", whole, () => HttpBody.raw(bytes.slice().buffer)),
  row("a raw blob", "Sent", whole, () => HttpBody.raw(new Blob([bytes]))),
  row("raw parameters", "Sent", /^a=1&b=2$/, () => HttpBody.raw(new URLSearchParams("a=1&b=2"))),
  row("a raw null", "Sent", /^$/, () => HttpBody.raw(null)),
  row("a stream", "NotUnframed", chunked, () => HttpBody.stream(halves)),
  row("a stream of declared length", "Sent", /AAAAA/, () => HttpBody.stream(halves, "text/plain", bytes.length)),
  row(
    "a stream whose declared length is no number",
    "NotUnframed",
    chunked,
    () => HttpBody.stream(halves, "text/plain", Number.NaN)
  ),
  row("a stream that is longer than declared", "Broken", /^$/, () => HttpBody.stream(halves, "text/plain", 5)),
  row(
    "a stream of one chunk with thousands of parts",
    "Sent",
    /a{4000}/,
    () =>
      HttpBody.stream(
        Stream.make(...Array.from({ length: 20_000 }, () => new TextEncoder().encode("a"))),
        "text/plain",
        20_000
      )
  ),
  row(
    "a stream that continues after what is declared",
    "Broken",
    /^$/,
    () => HttpBody.stream(Stream.concat(halves, halves), "text/plain", bytes.length)
  ),
  row(
    "a stream that fails after what is declared",
    "Broken",
    /^$/,
    () => HttpBody.stream(Stream.concat(halves, Stream.fail("broken")), "text/plain", bytes.length)
  ),
  row("a stream that is shorter than declared", "Broken", /^$/, () => HttpBody.stream(halves, "text/plain", 600)),
  row("a stream that fails", "Broken", /^$/, () => HttpBody.stream(Stream.concat(halves, Stream.fail("broken")))),
  row("a stream that fails at once", "Broken", /^$/, () => HttpBody.stream(Stream.fail("broken"))),
  row(
    "a stream that dies",
    "Broken",
    /^$/,
    () => HttpBody.stream(Stream.concat(halves, Stream.fromEffect(Effect.die(new Error("broken")))), "text/plain", 600)
  )
]

/** Whether a server receives a request with this body and method. */
export const isReceived = (transport: TransportName, method: HttpMethod.HttpMethod, { is, name }: Row): boolean => {
  if (is === "Broken") return false
  // `fetch` refuses every body
  if (transport === "fetch" && /^(GET|HEAD)$/.test(method)) return name === "no body"
  return is === "Sent" || /^(PATCH|POST|PUT)$/.test(method)
}

/** Whether the platform's client can send it. Over undici, it passes on a form of Node that undici does not know. */
export const isSendable = (transport: TransportName, { name }: Row): boolean =>
  transport !== "undici" || name !== "a multipart form over 1 MiB"
