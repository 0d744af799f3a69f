// oxlint-disable-next-line import/no-unassigned-import -- x509 needs what this adds to Reflect
import "reflect-metadata"
import * as x509 from "@peculiar/x509"
import { Effect } from "effect"

/** A certificate and its key, in PEM. */
export interface Certificate {
  readonly cert: string
  readonly key: string
}

/** A certificate authority. */
export interface Authority extends Certificate {
  readonly issuer: { readonly name: string; readonly signingKey: CryptoKey }
}

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" }
const day = 24 * 60 * 60 * 1_000

const newKeys = Effect.promise(() => crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]))

const pem = Effect.fnUntraced(function*(certificate: x509.X509Certificate, { privateKey }: CryptoKeyPair) {
  const key = yield* Effect.promise(() => crypto.subtle.exportKey("pkcs8", privateKey))
  return { cert: certificate.toString("pem"), key: x509.PemConverter.encode(key, "PRIVATE KEY") }
})

/** Makes a certificate authority. A client trusts it only if it is configured to do so. */
export const makeAuthority: Effect.Effect<Authority> = Effect.gen(function*() {
  const keys = yield* newKeys
  const name = "CN=An authority of the tests"
  const certificate = yield* Effect.promise(() =>
    x509.X509CertificateGenerator.createSelfSigned({
      name,
      keys,
      signingAlgorithm: algorithm,
      extensions: [
        new x509.BasicConstraintsExtension(true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign)
      ]
    })
  )
  return { ...(yield* pem(certificate, keys)), issuer: { name, signingKey: keys.privateKey } }
})

/** Makes a certificate for this host that expires after this many days. Without an authority it is self-signed. */
export const makeCertificate = Effect.fnUntraced(function*(
  options: { readonly host: string; readonly days: number; readonly authority?: Authority }
): Effect.fn.Return<Certificate> {
  const keys = yield* newKeys
  const name = `CN=${options.host}`
  const certificate = yield* Effect.promise(() =>
    x509.X509CertificateGenerator.create({
      subject: name,
      issuer: options.authority?.issuer.name ?? name,
      publicKey: keys.publicKey,
      signingKey: options.authority?.issuer.signingKey ?? keys.privateKey,
      signingAlgorithm: algorithm,
      notBefore: new Date(Date.now() - 10 * day),
      notAfter: new Date(Date.now() + options.days * day),
      extensions: [new x509.SubjectAlternativeNameExtension([{ type: "dns", value: options.host }])]
    })
  )
  return yield* pem(certificate, keys)
})
