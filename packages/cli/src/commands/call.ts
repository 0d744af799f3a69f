import * as GroupClient from "@credit-data/http-client/GroupClient"
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as HttpBody from "@effect/platform/HttpBody"
import { type HttpMethod, isHttpMethod } from "@effect/platform/HttpMethod"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { readFile } from "node:fs/promises"
import { validateHeaderName, validateHeaderValue } from "node:http"
import { buffer } from "node:stream/consumers"
import { Ended, exitCode, Failure } from "../exitCode.ts"
import * as Supply from "../supply.ts"
import { colored } from "../color.ts"
import { waiting } from "../spinner.ts"
import { isTerminal, note, write } from "../terminal.ts"

const firstErrorStatus = 400

const wrongUsage = (message: string) => new Failure({ code: exitCode.usage, message })

const readBody = (data: string): Effect.Effect<HttpBody.HttpBody, Failure> => {
  if (!data.startsWith("@")) return Effect.succeed(HttpBody.text(data))
  const file = data.slice(1)
  return Effect.tryPromise({
    try: () => file === "-" ? buffer(process.stdin) : readFile(file),
    catch: () => wrongUsage(`The file of -d cannot be read: ${file}`)
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

/** One field for each name. Fields with the same name mean the same as one with all their values (RFC 9110, section 5.3). */
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
        ? Effect.fail(wrongUsage("Expected a header of the form -H 'Name: value'"))
        : name === "authorization" || name === "proxy-authorization"
        ? Effect.fail(
          wrongUsage(`Credentials are never arguments, so -H cannot set ${name}. The command adds the token.`)
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

const methodOf = (method: Option.Option<string>, hasBody: boolean): Effect.Effect<HttpMethod, Failure> => {
  const name = Option.getOrElse(method, () => hasBody ? "POST" : "GET").toUpperCase()
  return isHttpMethod(name) ? Effect.succeed(name) : Effect.fail(wrongUsage("Expected an HTTP method for -X"))
}

export const call = Command.make("call", {
  ...Supply.options,
  method: Options.text("request").pipe(
    Options.withAlias("X"),
    Options.optional,
    Options.withDescription("The HTTP method. Default: GET, or POST with -d")
  ),
  headers: Options.text("header").pipe(
    Options.withAlias("H"),
    Options.repeated,
    Options.withDescription("A header, as 'Name: value'")
  ),
  data: Options.text("data").pipe(
    Options.withAlias("d"),
    Options.optional,
    Options.withDescription("The body, or @FILE, or @- for standard input. Its type is JSON, unless -H sets another")
  ),
  fail: Options.boolean("fail").pipe(
    Options.withAlias("f"),
    Options.withDescription("Exit with 22 when the status is 400 or more")
  ),
  path: Args.text({ name: "path" }).pipe(Args.withDescription("A path below the base URL, with its query"))
}, ({ data, fail, headers, method, path, ...choice }) =>
  Effect.gen(function*() {
    const name = yield* methodOf(method, Option.isSome(data))
    const fields = yield* parseHeaders(headers)
    const body = yield* Effect.transposeMapOption(data, readBody)
    // the group cannot be derived from the path, so the server decides whether the token covers it
    const client = yield* GroupClient.make({ name: "API" })
    const request = HttpClientRequest.make(name)(path, { headers: fields })
    const sent = client.execute(
      Option.match(body, { onNone: () => request, onSome: (body) => withBody(request, body, fields) })
    )
    const { bytes, status } = yield* waiting(
      Effect.flatMap(sent, ({ arrayBuffer, status }) => Effect.map(arrayBuffer, (bytes) => ({ bytes, status })))
    )
    const isError = status >= firstErrorStatus
    if (isTerminal() || isError) yield* note(colored(isError ? "red" : "green", `status ${status}`))
    yield* write(new Uint8Array(bytes))
    if (isTerminal()) yield* note("")
    if (fail && isError) return yield* new Ended({ code: exitCode.status })
  }).pipe(Effect.scoped, Effect.provide(Supply.layer(choice)))).pipe(
    Command.withDescription("Send one call to the business API, with a token")
  )
