import { AuthV2 } from "@credit-data/auth-v2"
import { TokenEndpoint } from "@credit-data/core"
import { makeAuthority, makeCertificate } from "@credit-data/test-support/certificates"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { canary } from "../../src/canaries.ts"
import { trusting } from "../../src/tls.ts"

/** A server of OpenSSL that requires a client certificate, and ends a handshake without one by an alert. */
const program = `
import socket, ssl, sys
folder, version = sys.argv[1:]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(folder + "/cert.pem", folder + "/key.pem")
context.load_verify_locations(folder + "/ca.pem")
context.verify_mode = ssl.CERT_REQUIRED
context.minimum_version = context.maximum_version = getattr(ssl.TLSVersion, version)
server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
while True:
    connection, _ = server.accept()
    try:
        context.wrap_socket(connection, server_side=True)
    except (ssl.SSLError, OSError):
        pass
    try:
        # what the client has sent already is read, because otherwise the alert would be lost in a reset
        connection.settimeout(0.2)
        while connection.recv(65536):
            pass
    except OSError:
        pass
    connection.close()
`

const serve = (version: "TLSv1_2" | "TLSv1_3") =>
  Effect.gen(function*() {
    const authority = yield* makeAuthority
    const certificate = yield* makeCertificate({ host: "localhost", days: 1, authority })
    const folder = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "credit-data-"))),
      (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
    )
    writeFileSync(join(folder, "cert.pem"), certificate.cert)
    writeFileSync(join(folder, "key.pem"), certificate.key)
    writeFileSync(join(folder, "ca.pem"), authority.cert)
    const { port } = yield* Effect.acquireRelease(
      Effect.async<{ readonly port: number; readonly stop: () => void }>((resume) => {
        const child = spawn("python3", ["-c", program, folder, version], { stdio: ["ignore", "pipe", "inherit"] })
        child.stdout.once("data", (data) => resume(Effect.succeed({ port: Number(data), stop: () => child.kill() })))
      }),
      ({ stop }) => Effect.sync(stop)
    )
    return { url: `https://localhost:${port}`, authority }
  })

describe.each(trusting)("a server of OpenSSL that requires a client certificate, over %s", (_, transport) => {
  for (const version of ["TLSv1_2", "TLSv1_3"] as const) {
    it.scopedLive(`is named as the cause, with ${version}`, () =>
      Effect.gen(function*() {
        const { authority, url } = yield* serve(version)
        const Endpoint = AuthV2.layerTokenEndpoint({
          environment: { name: "mutual", audience: "a", baseUrl: url, authV2Url: url },
          credentials: { clientId: "id", clientSecret: Redacted.make(canary) },
          scopes: ["data-access:all"]
        }).pipe(Layer.provide(transport(authority.cert)))
        const error = yield* Effect.flip(
          Effect.flatMap(TokenEndpoint.TokenEndpoint, ({ requestToken }) => requestToken({ _tag: "Nothing" })).pipe(
            Effect.provide(Endpoint)
          )
        )
        assert(error._tag === "TransportError")
        assert.include(error.message, "requires a client certificate")
        assert.strictEqual(error.retryable, error.reason === "Reset" || error.reason === "Cut")
      }))
  }
})
