import * as GroupClient from "@credit-data/http-client/GroupClient"
import * as HttpBody from "@effect/platform/HttpBody"
import { type HttpMethod, isHttpMethod } from "@effect/platform/HttpMethod"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Effect from "effect/Effect"
import { access, constants, readFile, writeFile } from "node:fs/promises"
import { STATUS_CODES, validateHeaderName, validateHeaderValue } from "node:http"
import path from "node:path"
import { buffer } from "node:stream/consumers"
import { colored } from "../color.ts"
import type { Invocation } from "../commandLine/commands.ts"
import { exitCode } from "../exitCode.ts"
import { codeOf } from "../errorCode.ts"
import { Ended, Failure } from "../failure.ts"
import { jsonText } from "../jsonText.ts"
import { waiting } from "../spinner.ts"
import * as Supply from "../supply.ts"
import { isTerminal, note, write } from "../terminal.ts"
import { visible } from "../visible.ts"

const firstErrorStatus = 400

const wrongUsage = (message: string) => new Failure({ code: exitCode.usage, message })

const readBody = (data: string): Effect.Effect<HttpBody.HttpBody, Failure> => {
  if (!data.startsWith("@")) return Effect.succeed(HttpBody.text(data))
  const file = data.slice(1)
  return Effect.tryPromise({
    try: () => file === "-" ? buffer(process.stdin) : readFile(file),
    catch: () => wrongUsage(`The file of --data cannot be read: ${visible(file)}`)
  }).pipe(Effect.map((bytes) => HttpBody.uint8Array(bytes)))
}

const isHeader = (name: string, value: string) => {
  try {
    validateHeaderName(name)
    validateHeaderValue(name, value)
    return true
  } catch {
    return false
  }
}

/**
 * One field for each name. Fields with the same name are equivalent to one field with all their values (RFC 9110, section 5.3).
 */
const combined = (fields: ReadonlyArray<readonly [name: string, value: string]>): Record<string, string> => {
  const values = new Map<string, string>()
  for (const [name, value] of fields) {
    const before = values.get(name)
    values.set(name, before === undefined ? value : `${before}${name === "cookie" ? "; " : ", "}${value}`)
  }
  return Object.fromEntries(values)
}

const ofConnection: ReadonlySet<string> = new Set([
  "host",
  "connection",
  "content-length",
  "keep-alive",
  "proxy-connection",
  "te",
  "transfer-encoding",
  "upgrade"
])

const parseHeaders = (lines: ReadonlyArray<string>): Effect.Effect<Record<string, string>, Failure> =>
  Effect.map(
    Effect.forEach(lines, (line) => {
      const colon = line.indexOf(":")
      const name = line.slice(0, Math.max(0, colon)).trim().toLowerCase()
      const value = line.slice(colon + 1).trim()
      return !isHeader(name, value)
        ? Effect.fail(wrongUsage("--header does not accept this value. Expected 'Name: value'."))
        : name === "authorization" || name === "proxy-authorization"
        ? Effect.fail(
          wrongUsage(`Do not pass credentials as arguments: -H cannot set ${name}. The command adds the token.`)
        )
        : ofConnection.has(name)
        ? Effect.fail(
          wrongUsage(
            `-H cannot set ${name}, which belongs to the connection. The command takes the host from CREDIT_DATA_BASE_URL.`
          )
        )
        : Effect.succeed([name, value] as const)
    }),
    combined
  )

const withBody = (
  request: HttpClientRequest.HttpClientRequest,
  body: HttpBody.HttpBody,
  headers: Record<string, string>
) =>
  HttpClientRequest.setHeaders(HttpClientRequest.setBody(request, body), {
    "content-type": "application/json",
    ...headers
  })

const methodOf = (method: string | undefined, hasBody: boolean): Effect.Effect<HttpMethod, Failure> => {
  const name = (method ?? (hasBody ? "POST" : "GET")).toUpperCase()
  return isHttpMethod(name)
    ? Effect.succeed(name)
    : Effect.fail(wrongUsage("--request does not accept this value. Expected an HTTP method."))
}

const standardOutput = "-"

/** Fails before anything is sent if the file cannot be written. */
const checkFile = (file: string): Effect.Effect<void, Failure> =>
  Effect.tryPromise({
    try: () =>
      access(file, constants.W_OK).catch((error: unknown) =>
        codeOf(error) === "ENOENT" ? access(path.dirname(file), constants.W_OK) : Promise.reject(error)
      ),
    catch: (error) => wrongUsage(`The file of --output cannot be written: ${visible(file)} (${codeOf(error)}).`)
  })

const writeTo = (file: string, bytes: Uint8Array): Effect.Effect<void, Failure> =>
  Effect.tryPromise({
    // a response of the API has personal data
    try: () => writeFile(file, bytes, { mode: 0o600 }),
    catch: (error) =>
      new Failure({
        code: exitCode.output,
        message: `The file of --output cannot be written: ${visible(file)} (${codeOf(error)}).`
      })
  })

type Fields = Readonly<Record<string, string | undefined>>

const isMediaTypeJson = (type: string): boolean => /^[^;]*[/+]json\s*(;|$)/i.test(type)

/** The text of a body, or none if it is binary. */
const textOf = (bytes: Uint8Array, type: string): string | undefined => {
  const [, charset = "utf-8"] = /;\s*charset="?([^";\s]+)/i.exec(type) ?? []
  try {
    const text = new TextDecoder(charset, { fatal: true }).decode(bytes)
    return text.includes("\0") ? undefined : text
  } catch {
    return undefined
  }
}

/** A body for a terminal. */
const shown = (bytes: Uint8Array, headers: Fields): Effect.Effect<string, Failure> => {
  const type = headers["content-type"] ?? ""
  const text = textOf(bytes, type)
  if (text === undefined) {
    return Effect.fail(
      new Failure({
        code: exitCode.output,
        message:
          `The body is binary (${
            visible(type) || "unknown type"
          }, ${bytes.length} bytes), so it is not written to a terminal. ` +
          "Use a pipe, or --output FILE."
      })
    )
  }
  return Effect.succeed((isMediaTypeJson(type) ? jsonText(text) : undefined) ?? visible(text))
}

/** Status and headers, as HTTP writes them. */
const headOf = (status: number, headers: Fields): string =>
  [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`.trimEnd(),
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    "",
    ""
  ].join("\n")

export const call = ({ operands: [path = ""], options }: Invocation<"call">) =>
  Effect.gen(function*() {
    const { data, fail, include, output, request: method } = options
    const isShown = isTerminal() && output === undefined
    const name = yield* methodOf(method, data !== undefined)
    const fields = yield* parseHeaders(options.header)
    if (output !== undefined && output !== standardOutput) yield* checkFile(output)
    // the group cannot be derived from the path, so the server decides whether the token covers it
    const client = yield* GroupClient.make({ name: "API" })
    const request = HttpClientRequest.make(name)(path, { headers: fields })
    const sent = client.execute(data === undefined ? request : withBody(request, yield* readBody(data), fields))
    const { bytes, headers, status } = yield* waiting(
      Effect.flatMap(sent, ({ arrayBuffer, headers, status }) =>
        Effect.map(arrayBuffer, (body) => ({ bytes: new Uint8Array(body), headers, status })))
    )
    const isError = status >= firstErrorStatus
    if (include) {
      const head = headOf(status, headers)
      yield* write(isTerminal() ? visible(head) : head)
    } else if (isTerminal() || isError) {
      yield* note(colored(isError ? "red" : "green", `status ${status}`))
    }
    if (output !== undefined && output !== standardOutput) {
      yield* writeTo(output, bytes)
    } else if (isShown) {
      yield* write((yield* shown(bytes, headers)).replace(/(?<=[^\n])$/, "\n"))
    } else yield* write(bytes)
    if (fail && isError) {
      return yield* new Ended({ code: exitCode.status })
    }
  }).pipe(Effect.scoped, Effect.provide(Supply.layer(options)))
