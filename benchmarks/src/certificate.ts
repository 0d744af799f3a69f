import { Effect, type Scope } from "effect"
import { execFile } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"

/** The files of a certificate and its key. */
interface Certificate {
  readonly cert: string
  readonly key: string
}

const request = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=127.0.0.1"

/** Makes a self-signed certificate for 127.0.0.1 with the command `openssl`. The scope removes its files when it is closed. */
export const makeCertificate: Effect.Effect<Certificate, never, Scope.Scope> = Effect.gen(function*() {
  const folder = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "benchmarks-"))),
    (folder) => Effect.promise(() => rm(folder, { recursive: true }))
  )
  const files = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") }
  yield* Effect.promise(() =>
    promisify(execFile)("openssl", [
      ...request.split(" "),
      "-addext",
      "subjectAltName=IP:127.0.0.1",
      "-keyout",
      files.key,
      "-out",
      files.cert
    ])
  )
  return files
})
