import { Simulator } from "@credit-data/simulator"
import { type Certificate, makeAuthority, makeCertificate } from "@credit-data/test-support/certificates"
import { listen, listenForSockets } from "@credit-data/test-support/listen"
import { assert } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Option, Redacted, Schema } from "effect"
import { writeFileSync } from "node:fs"
import { createServer as createHttpServer } from "node:http"
import { connect, type Socket } from "node:net"
import { createServer as createTlsServer, type TlsOptions } from "node:tls"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import * as PrintedJson from "../support/printedJson.ts"
import type { Step } from "../../src/doctor/step.ts"
import { layerOfDoctor } from "../../src/undici.ts"
import { startProgram, temporaryFolder } from "../support/program.ts"
import { examined, type Line, type Options } from "./examined.ts"

const proxyVariables = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy"]

/** Sets exactly these variables of forward proxies in this process, until the scope ends. */
const withProxies = (variables: Record<string, string>) => {
  const set = (values: Record<string, string | undefined>) => {
    for (const name of proxyVariables) {
      const value = values[name]
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
  return Effect.acquireRelease(
    Effect.sync(() => {
      const before = { ...process.env }
      set(variables)
      return before
    }),
    (before) => Effect.sync(() => set(before))
  )
}

/** What no step may show, whatever is found. */
export const secret = "canary-secret-0123456789abcdefghijklmnop"

const canaries = [secret, "canary-proxy-user", "canary-proxy-password", "canary-value", "Bearer", "eyJ"]

/** Variables of a service that is nowhere. */
export const nowhere = {
  CREDIT_DATA_ENVIRONMENT: "tests",
  CREDIT_DATA_AUDIENCE: "https://api.tests.example",
  CREDIT_DATA_BASE_URL: "https://api.tests.example",
  CREDIT_DATA_AUTH_V1_URL: "https://auth.tests.example",
  CREDIT_DATA_AUTH_V2_URL: "https://oauth.tests.example",
  CREDIT_DATA_CLIENT_ID: "the-client",
  CREDIT_DATA_CLIENT_SECRET: secret,
  CREDIT_DATA_SCOPES: "data-access:all furnishment:all serviceplus:all"
}

/** The tokens with which the API of a simulator was called. */
export const tokensOf = (simulator: Simulator.Service) =>
  Effect.map(
    simulator.received,
    (requests) =>
      requests.flatMap(({ authorization }) => Option.toArray(authorization)).map((header) =>
        Redacted.value(header).replace(/^Bearer /, "")
      )
  )

/** Fails if a step shows something that must not show, or can move the cursor of a terminal. */
export const checkCanaries = (lines: ReadonlyArray<Line>) => {
  const text = JSON.stringify(lines)
  for (const canary of canaries) assert.notInclude(text, canary)
  for (const { advice, detail } of lines) assert.notMatch(detail + advice, /\p{Cc}/u)
  return lines
}

/** Examines what these variables describe. */
export const examineWith = (
  variables: Record<string, string>,
  options: Partial<Options> & { readonly proxies?: Record<string, string> } = {}
) =>
  withProxies(options.proxies ?? {}).pipe(
    Effect.zipRight(Effect.provide(examined({ auth: "v2", probes: [], ...options }), layerOfDoctor)),
    Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(variables)))),
    Effect.map(checkCanaries),
    Effect.scoped
  )

/** Examines with the built program, which trusts an authority: Node reads that variable only when it starts. */
export const examineTrusting = Effect.fnUntraced(
  function*(authority: Certificate, variables: Record<string, string>, probe?: string) {
    const file = join(yield* temporaryFolder, "authority.pem")
    writeFileSync(file, authority.cert)
    const args = ["doctor", "--json", ...(probe === undefined ? [] : ["--probe", probe])]
    const { stderr, stdout } = yield* startProgram(args, {
      variables: { ...variables, NODE_EXTRA_CA_CERTS: file }
    })
    assert.strictEqual(stderr, "")
    const { steps } = yield* Schema.decodeUnknown(Schema.parseJson(PrintedJson.Doctor))(stdout)
    return checkCanaries(
      steps.map(({ advice, detail, name, result }): Line => ({ name, result, detail, advice: advice.join(" ") }))
    )
  },
  Effect.scoped
)

const relay = (port: number) => (socket: Socket) => {
  const server = connect(port, "127.0.0.1")
  socket.on("error", () => server.destroy())
  server.on("error", () => socket.destroy())
  socket.pipe(server)
  server.pipe(socket)
}

/** A server with this certificate in front of a plain one. Returns its port. */
const tlsInFrontOf = (url: string, certificate: Certificate) =>
  listen(createTlsServer({ ...certificate }, relay(Number(new URL(url).port))).on("tlsClientError", () => {}))

/** A server with this certificate that sends nothing after the handshake. Returns its port. */
export const tls = (certificate: Certificate, options: TlsOptions = {}) =>
  listen(createTlsServer({ ...certificate, ...options }).on("tlsClientError", () => {}))

/** A server that accepts connections and never sends a byte. Returns its port, and how many connections are open. */
export const silent = Effect.gen(function*() {
  let connections = 0
  const port = yield* listenForSockets((socket) => {
    connections++
    socket.resume().on("close", () => connections--)
  })
  return { port, connections: () => connections }
})

/** A server that responds to every request with these headers. */
export const responding = (headers: Record<string, string>) =>
  listen(createHttpServer((_, response) => {
    response.sendDate = false
    response.writeHead(404, headers).end()
  }))

/** A server that compresses whatever it returns. */
export const compressing = Effect.suspend(() =>
  listen(createHttpServer((_, response) => {
    response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" })
    response.end(gzipSync("{\"access_token\":\"a\",\"token_type\":\"Bearer\",\"expires_in\":60}"))
  }))
)

/** A forward proxy that responds to CONNECT with this status. Returns its port, and what it received. */
export const forwardProxy = Effect.fnUntraced(function*(status: number) {
  const received: Array<{ readonly target: string; readonly authorization: string | undefined }> = []
  const server = createHttpServer()
  server.on("connect", ({ headers, url = "" }, socket: Socket) => {
    received.push({ target: url, authorization: headers["proxy-authorization"] })
    if (status === 200) {
      socket.write("HTTP/1.1 200 Connected\r\n\r\n")
      relay(Number(new URL(`http://${url}`).port))(socket)
    } else {
      socket.end(`HTTP/1.1 ${status} Refused\r\nContent-Length: 0\r\n\r\n`)
    }
  })
  return { port: yield* listen(server), received }
})

/** A running simulator that accepts the secret of these tests, and the variables for it. */
export const simulated = Effect.gen(function*() {
  const context = yield* Layer.build(
    Simulator.layer({ credentials: { clientId: nowhere.CREDIT_DATA_CLIENT_ID, clientSecret: Redacted.make(secret) } })
  )
  return yield* Effect.provide(
    Effect.all({ simulator: Simulator.Simulator, variables: Simulator.variables }),
    context
  )
})

/** A simulator whose authorization server and API have a certificate that expires after this many days. */
export const simulatedWithCertificates = Effect.fnUntraced(function*(days: number) {
  const { simulator, variables } = yield* simulated
  const authority = yield* makeAuthority
  const certificate = yield* makeCertificate({ host: "localhost", days, authority })
  const tokens = yield* tlsInFrontOf(simulator.environment.authV2Url, certificate)
  const api = yield* tlsInFrontOf(simulator.environment.baseUrl, certificate)
  return {
    authority: { cert: authority.cert, key: authority.key },
    api,
    variables: {
      ...variables,
      CREDIT_DATA_AUTH_V2_URL: `https://localhost:${tokens}`,
      CREDIT_DATA_BASE_URL: `https://localhost:${api}`
    }
  }
})

/** The steps in their order. */
export const names = ["configuration", "name", "connection", "TLS", "clock", "token", "scopes", "API"]

/** The first line with this result. */
export const lineOf = (lines: ReadonlyArray<Line>, result: Step["result"]): Line => {
  const found = lines.find((line) => line.result === result)
  assert(found !== undefined, `no step is ${result}: ${JSON.stringify(lines)}`)
  return found
}

/** The failed step. Checks that all steps before it were run, and that those after it were not. */
export const failureOf = (lines: ReadonlyArray<Line>): Line => {
  const failed = lineOf(lines, "failed")
  assert.deepStrictEqual(lines.map(({ name }) => name), names)
  assert.deepStrictEqual(
    lines.filter(({ detail }) => detail === `not run, because ${failed.name} failed`).map(({ name }) => name),
    names.slice(names.indexOf(failed.name) + 1)
  )
  return failed
}

/** The results of all steps, in their order. */
export const resultsOf = (lines: ReadonlyArray<Line>) => lines.map(({ name, result }) => `${name} ${result}`)

/** A server that ends each connection after the first bytes. Returns its port. */
export const resetting = Effect.suspend(() =>
  listenForSockets((socket) => socket.once("data", () => socket.resetAndDestroy()))
)
