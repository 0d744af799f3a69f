import { connectionHeaders } from "@credit-data/core/Internal"
import * as GroupClient from "@credit-data/http-client/GroupClient"
import * as HttpBody from "@effect/platform/HttpBody"
import { isHttpMethod } from "@effect/platform/HttpMethod"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Effect from "effect/Effect"
import { access, constants, readFile, writeFile } from "node:fs/promises"
import { STATUS_CODES } from "node:http"
import path from "node:path"
import { buffer } from "node:stream/consumers"
import type { Invocation } from "../commandLine/commands.ts"
import { exitCode } from "../exitCode.ts"
import { Ended, Failure, wrongUsage } from "../failure.ts"
import * as Supply from "../supply.ts"
import { note, write } from "../terminal.ts"
import { codeOf, colored, isTerminal, visible } from "../text.ts"

const firstErrorStatus = 400

type Options = Invocation<"call">["options"]

const readBody = (data: string): Effect.Effect<HttpBody.HttpBody, Failure> => {
  if (!data.startsWith("@")) return Effect.succeed(HttpBody.text(data))
  const file = data.slice(1)
  return Effect.tryPromise({
    try: () => file === "-" ? buffer(process.stdin) : readFile(file),
    catch: () => wrongUsage(`Cannot read the file in --data: ${file}`)
  }).pipe(Effect.map((bytes) => HttpBody.uint8Array(bytes)))
}

/** The reason why a header cannot be set, if there is one. */
const refusalOf = (name: string): string | undefined =>
  /^(proxy-)?authorization$/.test(name)
    ? `Do not pass credentials as arguments: -H cannot set ${name}. The command adds the token.`
    : name === "content-length" || connectionHeaders.has(name)
    ? `-H cannot set ${name}, which belongs to the connection. The command takes the host from CREDIT_DATA_BASE_URL.`
    : undefined

/** One field for each name, because several fields with a name are equivalent to one with all their values (RFC 9110, section 5.3). */
const parseHeaders = (lines: ReadonlyArray<string>): Effect.Effect<Record<string, string>, Failure> =>
  Effect.gen(function*() {
    const fields = new Headers()
    for (const line of lines) {
      const [, name = "", value = ""] = /^([^:]*):(.*)$/s.exec(line) ?? []
      yield* Effect.try({
        try: () => fields.append(name.trim(), value.trim()),
        catch: () => wrongUsage("--header does not accept this value. Expected 'Name: value'.")
      })
      const refusal = refusalOf(name.trim().toLowerCase())
      if (refusal !== undefined) return yield* wrongUsage(refusal)
    }
    return Object.fromEntries(fields)
  })

const requestOf = (target: string, { data, header, request: method }: Options) =>
  Effect.gen(function*() {
    const name = (method ?? (data === undefined ? "GET" : "POST")).toUpperCase()
    if (!isHttpMethod(name)) {
      return yield* wrongUsage("--request does not accept this value. Expected an HTTP method.")
    }
    if (data !== undefined && (name === "GET" || name === "HEAD")) {
      return yield* wrongUsage(`A ${name} has no body. Give --data another --request.`)
    }
    const headers = yield* parseHeaders(header)
    const request = HttpClientRequest.make(name)(target, { headers })
    if (data === undefined) return request
    const json = { "content-type": "application/json", ...headers }
    return HttpClientRequest.setHeaders(HttpClientRequest.setBody(request, yield* readBody(data)), json)
  })

const unwritable = (file: string, code: number) => (error: unknown) =>
  new Failure({ code, message: `Cannot write the file in --output: ${file} (${codeOf(error)}).` })

/** Fails before anything is sent if the file cannot be written. */
const checkFile = (file: string): Effect.Effect<void, Failure> =>
  Effect.tryPromise({
    try: () =>
      access(file, constants.W_OK).catch((error: unknown) =>
        codeOf(error) === "ENOENT" ? access(path.dirname(file), constants.W_OK) : Promise.reject(error)
      ),
    catch: unwritable(file, exitCode.usage)
  })

/** Only its owner may read the file, because a response of the API has personal data. */
const writeTo = (file: string, bytes: Uint8Array): Effect.Effect<void, Failure> =>
  Effect.tryPromise({
    try: () => writeFile(file, bytes, { mode: 0o600 }),
    catch: unwritable(file, exitCode.output)
  })

type Fields = Readonly<Record<string, string | undefined>>

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
const shown = (bytes: Uint8Array, type: string): Effect.Effect<string, Failure> => {
  const text = textOf(bytes, type)
  if (text !== undefined) return Effect.succeed(visible(text))
  const what = `${visible(type) || "unknown type"}, ${bytes.length} bytes`
  return new Failure({
    code: exitCode.output,
    message: `The body is binary (${what}), so it is not written to a terminal. Use a pipe, or --output FILE.`
  })
}

/** Status and headers, as HTTP writes them. */
const headOf = (status: number, headers: Fields): string =>
  [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`.trimEnd(),
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    "\n"
  ].join("\n")

export const call = ({ operands: [target = ""], options }: Invocation<"call">) =>
  Effect.gen(function*() {
    const { fail, include } = options
    // the dash is curl's name of standard output
    const file = options.output === "-" ? undefined : options.output
    const request = yield* requestOf(target, options)
    if (file !== undefined) yield* checkFile(file)
    // the group cannot be derived from the path, so the server decides whether the token covers it
    const client = yield* GroupClient.make({ name: "API" })
    const { bytes, headers, status } = yield* client.execute(request).pipe(
      Effect.flatMap(({ arrayBuffer, headers, status }) =>
        Effect.map(arrayBuffer, (body) => ({ bytes: new Uint8Array(body), headers, status }))
      ),
      Supply.patiently(options)
    )
    const isError = status >= firstErrorStatus
    if (include) {
      const head = headOf(status, headers)
      yield* write(isTerminal() ? visible(head) : head)
    } else if (isTerminal() || isError) {
      yield* note(colored(isError ? "red" : "green", `status ${status}`))
    }
    if (file !== undefined) yield* writeTo(file, bytes)
    else if (isTerminal() && options.output === undefined) {
      yield* write((yield* shown(bytes, headers["content-type"] ?? "")).replace(/(?<=[^\n])$/, "\n"))
    } else yield* write(bytes)
    if (fail && isError) return yield* new Ended({ code: exitCode.status })
  }).pipe(Effect.scoped, Effect.provide(Supply.layer(options)))
