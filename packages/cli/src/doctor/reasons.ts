import type { TransportReason } from "@credit-data/core/TokenError"

/** Why there was no complete answer, in a few words. The advice explains it. */
export const reasons: Readonly<Record<TransportReason, string>> = {
  NameNotFound: "the name does not resolve",
  NameServiceFailed: "DNS did not answer",
  Refused: "the connection was refused",
  Unreachable: "the host cannot be reached",
  Reset: "the connection was closed",
  Cut: "the answer broke off",
  Garbled: "it is not HTTP",
  Tls: "the TLS handshake failed",
  Proxy: "the proxy did not let it through",
  Timeout: "it took too long",
  Other: "the connection failed"
}
