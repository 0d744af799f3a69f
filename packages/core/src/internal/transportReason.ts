// Everything about the reasons of a `TransportError`.

/** What to do about a failure that ends by itself. */
export const temporary = "This is usually temporary. If it persists, contact the operator."

interface Row {
  /** What happened. */
  readonly what: string
  /** What to do. `{server}` did not respond, and `{address}` is where its address is set. */
  readonly todo: string
  /** The codes with which Node, OpenSSL through Node, undici and Node's HTTP parser report it. */
  readonly codes?: RegExp
  /** A retry cannot succeed before something is repaired. */
  readonly lasts?: true
}

const table = <Name extends string>(rows: Readonly<Record<Name, Row>>) => rows

export const transportReasons = table({
  NameNotFound: {
    what: "its host name does not resolve",
    todo:
      "Check the host name in {address}, and DNS. If this network needs a forward proxy, check that the transport uses it.",
    codes: /^ENOTFOUND$/
  },
  NameServiceFailed: {
    what: "DNS did not respond",
    todo: `Check the DNS settings of this machine. ${temporary}`,
    codes: /^EAI_[A-Z]+$/
  },
  Refused: {
    what: "the connection was refused",
    todo: "Check the host and the port in {address}.",
    codes: /^(ECONNREFUSED|ConnectionRefused)$/
  },
  Unreachable: {
    what: "its host cannot be reached",
    todo: "Check the network and its firewall rules.",
    codes: /^(EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN|EADDRNOTAVAIL)$/
  },
  Reset: {
    what: "the connection was closed before a response arrived",
    todo:
      `${temporary} If no request ever succeeds, check that {server} accepts HTTP/1.1, and whether it requires a client certificate.`,
    codes: /^(ECONNRESET|ECONNABORTED|EPIPE|UND_ERR_SOCKET|ERR_STREAM_PREMATURE_CLOSE|ConnectionClosed)$/
  },
  Cut: {
    what: "the connection was lost before the response was complete",
    todo: `${temporary} If no request ever succeeds, check whether {server} requires a client certificate.`,
    // OpenSSL's other codes do not show whether the handshake was over, so the request may have been sent
    codes: /^ERR_SSL_/
  },
  Garbled: {
    what: "the response is not HTTP",
    todo: "Check {address}, and the proxies and gateways between this machine and {server}.",
    codes: /^(HPE_|UND_ERR_(RES_CONTENT_LENGTH_MISMATCH|HEADERS_OVERFLOW))/
  },
  Tls: {
    what: "the TLS handshake failed",
    todo:
      "Check the certificate of {server}, the authorities that this program trusts, and whether {server} requires a client certificate or " +
      "another version of TLS. `credit-data doctor` shows the reason.",
    // EPROTO: the handshake failed while a write was waiting for it
    codes:
      /^(EPROTO$|ERR_TLS_|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_CA|INVALID_PURPOSE|HOSTNAME_MISMATCH)/,
    lasts: true
  },
  ClientCertificate: {
    what: "the server requires a client certificate that it accepts",
    todo: "Check which client certificate {server} expects, and configure the HttpClient with it.",
    lasts: true
  },
  Proxy: {
    what: "a forward proxy did not let the request through",
    todo: "Check the proxy settings (HTTPS_PROXY), the proxy's credentials and its rules."
  },
  Timeout: {
    what: "it took too long",
    todo: "Check whether {server} is slow, or whether a firewall drops the connection.",
    codes: /^(ETIMEDOUT|UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT)$/
  },
  NotAllowed: {
    what: "an HttpClient of the program changed the request so that it cannot be sent",
    todo:
      "Check transformClient and HttpClient.mapRequest, which may change {address} or add a header that cannot be sent.",
    lasts: true
  },
  Closed: {
    what: "the layer was closed",
    todo: "This is expected during shutdown. Otherwise, provide the layer around the whole program.",
    lasts: true
  },
  Other: {
    what: "the connection failed",
    todo: "Check the network between this machine and {server}."
  }
})
