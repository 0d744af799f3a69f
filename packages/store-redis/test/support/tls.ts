import { type Certificate, makeAuthority, makeCertificate } from "@credit-data/test-support/certificates"
import { Effect } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Writes the files of a server with TLS, and returns its settings. It requires certificates of its clients. */
export const writeCertificate = Effect.fnUntraced(
  function*({ authority, cert, key }: Certificate & { readonly authority: Certificate }) {
    const folder = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "redis-tls-"))),
      (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
    )
    const write = (name: string, text: string) => {
      const file = join(folder, name)
      writeFileSync(file, text)
      return file
    }
    return [
      `tls-cert-file ${write("cert.pem", cert)}`,
      `tls-key-file ${write("key.pem", key)}`,
      `tls-ca-cert-file ${write("ca.pem", authority.cert)}`
    ]
  }
)

/** A certificate for a host name, of an authority that a client trusts only if it is configured to do so. */
export const makeLocalhost = Effect.gen(function*() {
  const authority = yield* makeAuthority
  return { ...(yield* makeCertificate({ host: "localhost", days: 30, authority })), authority, host: "localhost" }
})
