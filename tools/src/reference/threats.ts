// What could go wrong with the secret and the tokens, what prevents it, and the tests that fail without this protection. The page of threats
// is written from this list.

interface Threat {
  readonly threat: string
  readonly protection: string
  /** Files, each with the name of a test in it. Of a name with parts that vary, a part that does not. */
  readonly tests: Readonly<Record<string, string>>
}

export const threats: Readonly<Record<string, ReadonlyArray<Threat>>> = {
  "The secret or a token reaches the wrong server": [
    {
      threat: "Servers log the secret, because it is in a URL or a header",
      protection: "It is sent only in the body of one POST",
      tests: { "tests/integration/test/contract.transports.test.ts": "has the secret in its body and nowhere else" }
    },
    {
      threat: "An attacker listens on the network",
      protection: "TLS is required, except on loopback hosts",
      tests: { "packages/core/test/tokenEndpointOptions.test.ts": "an authorization server at" }
    },
    {
      threat: "An attacker impersonates the authorization server",
      protection: "An untrusted certificate ends the handshake before the secret is sent",
      tests: { "tests/integration/test/faults/tls.transports.test.ts": "is refused, and the secret is not sent" }
    },
    {
      threat: "The token endpoint redirects to another server",
      protection: "No redirect is followed, on any transport",
      tests: {
        "tests/integration/test/faults/addresses.transports.test.ts":
          "a redirect is not followed, and the secret reaches no other server"
      }
    },
    {
      threat: "The API redirects to another server",
      protection: "The caller gets the redirect",
      tests: {
        "tests/integration/test/calls.transports.test.ts":
          "a redirect is returned to the caller, and the token is sent to no other server"
      }
    },
    {
      threat: "An unusual spelling of a URL leads to another server",
      protection: "The URL is parsed, and another origin is refused before anything is sent",
      tests: { "packages/http-client/test/target.test.ts": "no spelling of a URL sends a request to another origin" }
    },
    {
      threat: "An id from a caller leads to another path, with the token",
      protection: "`GroupClient.call` encodes values, and no path with `..` is sent, even if it is encoded",
      tests: {
        "packages/http-client/test/target.test.ts":
          "remains below it on a server that decodes slashes, dots and backslashes",
        "packages/http-client/test/call.test.ts": "is one segment of the path, whatever it contains"
      }
    },
    {
      threat: "Your own `HttpClient` rewrites URLs, or `transformClient` rewrites them or follows redirects",
      protection: "The URL is checked in the last step before sending, after all of the platform's combinators",
      tests: {
        "packages/core/test/transport.test.ts": "does not send the secret to another server",
        "packages/http-client/test/transport.test.ts": "sends the token to no other origin",
        "packages/http-client/test/client.test.ts": "within transformClient sends the token to no other origin"
      }
    },
    {
      threat: "A forwarded `host` header chooses the server",
      protection: "`host` and the connection's own headers are dropped in the last step",
      tests: {
        "tests/integration/test/wire.transports.test.ts":
          "a host header does not choose the server whose certificate is accepted"
      }
    },
    {
      threat: "A forwarded `content-length`, or a body without a length, becomes another request with its own response",
      protection: "A body has its length or is sent in chunks, or is refused",
      tests: {
        "tests/integration/test/framing.transports.test.ts": "reads one request from each call",
        "tests/integration/test/framing.system.test.ts":
          "logs one request for each call, whatever its method, its body and its forwarded headers"
      }
    },
    {
      threat: "A sandbox token is sent to production",
      protection: "The client takes its base URL from the token supply",
      tests: {
        "tests/integration/test/oneToken.test.ts":
          "two supplies in one program never mix their tokens: Data Access over V1, Furnishment over V2"
      }
    },
    {
      threat: "The secret of one client is sent to the server in another client's variables",
      protection: "A profile of the command is never combined with other variables",
      tests: {
        "packages/cli/test/profiles.test.ts":
          "replaces all variables of the environment if an option names it, and is refused beside them if a variable names it"
      }
    },
    {
      threat: "A layer that is bound to a const gives one client another client's token, for example in a `LayerMap`",
      protection: "A layer is shared only where its ConfigProvider, its Clock and its services are identical",
      tests: { "tests/integration/test/layerReuse.test.ts": "is built again under another ConfigProvider" }
    },
    {
      threat: "A client certificate is sent to the wrong server",
      protection: "`Layer.fresh` keeps two clients separate",
      tests: {
        "tests/integration/test/faults/tls.transports.test.ts":
          "the client certificate goes to the token endpoint, and to no other server"
      }
    }
  ],

  "The secret or a token is printed": [
    {
      threat: "You print a value, an error, a span or a log line, or Node prints an unhandled rejection",
      protection: "Secrets are `Redacted`, and no error contains a request, a response or a body",
      tests: {
        "packages/core/test/values.test.ts": "a printed token does not show its secret",
        "packages/http-client/test/callerError.test.ts": "is shown without the token"
      }
    },
    {
      threat: "A span shows the token, the secret or a query",
      protection: "The packages create their own span in place of the platform's",
      tests: {
        "packages/http-client/test/callSpan.test.ts": "have one span, without path, query and token",
        "packages/core/test/requestSpan.test.ts":
          "is not part of the trace of the caller, and has the environment, the client, the host and the reason"
      }
    },
    {
      threat: "Your own `HttpClient` adds spans and trace headers",
      protection: "Tracing is turned off in the last step before sending",
      tests: {
        "packages/http-client/test/transport.test.ts": "sends no trace headers, and puts no query into a span"
      }
    },
    {
      threat: "A third party receives your trace ids",
      protection: "Trace headers are sent only with `propagateTrace`",
      tests: { "packages/http-client/test/callSpan.test.ts": "send nothing to the third party" }
    },
    {
      threat: "An error from the transport or from your own client contains the request, or the API sends it back",
      protection: "Only the error's name, message and code are kept, and the token in them is replaced",
      tests: {
        "packages/http-client/test/callerError.test.ts": "is shown without the token",
        "tests/integration/test/connections.transports.test.ts":
          "the error shows no token when the request is sent back"
      }
    },
    {
      threat: "A server sends the secret or the token back",
      protection: "In text from others, it is replaced in plain, URL-encoded and Base64 form",
      tests: {
        "packages/core/test/printable.test.ts":
          "never shows a secret of the request, whether plain, URL-encoded, in Base64 or in a form"
      }
    },
    {
      threat: "The API sends the token back in a header or a body",
      protection: "A printed response has no body, and only the names of its headers",
      tests: {
        "packages/http-client/test/response.test.ts":
          "shows neither its body nor a header in which the API may repeat the token"
      }
    },
    {
      threat: "Text from a server forges a log line or hides a part of it",
      protection: "Control and bidirectional characters are escaped, and at most 300 characters are shown",
      tests: {
        "packages/core/test/printable.test.ts":
          "is printed on one line, without control and bidirectional characters, and with at most 300 characters"
      }
    }
  ],

  "A server fails or misbehaves": [
    {
      threat: "A server responds slowly or never, even while the caller is uninterruptible",
      protection: "One deadline covers connecting, headers and body",
      tests: {
        "tests/integration/src/networkFaults.ts": "a body, one byte every 100 ms",
        "packages/core/test/uninterruptible.test.ts": "an uninterruptible token request keeps its deadline"
      }
    },
    {
      threat: "A response is endless",
      protection: "At most 1 MiB of the decoded body is read",
      tests: {
        "tests/integration/test/processes.transports.test.ts":
          "keeps its memory bounded while a server sends an endless response"
      }
    },
    {
      threat: "A large response blocks the process",
      protection: "All work takes linear time in its input, which the benchmark measures",
      tests: { "benchmarks/src/understanding.ts": "a token beside an id_token of 700 kB" }
    },
    {
      threat: "A malformed response misleads the decoder",
      protection:
        "The status is checked first, and then a strict decoder runs. Its errors name the broken rule and never show a value",
      tests: { "packages/core/test/fuzz.test.ts": "decoder and classifier take any bytes" }
    },
    {
      threat: "A token injects a header",
      protection: "Only visible ASCII without spaces is accepted",
      tests: { "packages/core/test/tokenResponse.test.ts": "a response without a token" }
    },
    {
      threat: "Your load floods a failing token endpoint",
      protection: "At most one token request is in progress, and a failure starts a pause",
      tests: {
        "packages/core/test/failure.test.ts":
          "an endpoint that is dead for 3 minutes gets at most 20 requests under any load"
      }
    },
    {
      threat: "The API rejects good tokens, and each 401 causes a token request",
      protection: "A renewal is forced at most every 30 seconds",
      tests: {
        "packages/core/test/invalidation.test.ts": "gets one request every 30 s, and the token remains rejected"
      }
    },
    {
      threat: "A single 401 takes the token away from all calls",
      protection: "The token in use remains until the API rejects it, and then the older one is used",
      tests: {
        "packages/core/test/invalidation.test.ts": "is the newer one until the API rejects it, and then the older one"
      }
    },
    {
      threat: "A streamed upload that breaks off arrives as a complete, shorter request",
      protection: "The connection is closed before the end of the request",
      tests: {
        "tests/integration/test/framing.transports.test.ts": "reads no request from a call whose stream fails"
      }
    },
    {
      threat: "A call that changes data is sent twice",
      protection: "After a reset, only safe methods and calls with an `Idempotency-Key` are resent",
      tests: {
        "tests/integration/test/connections.transports.test.ts": "never receives a POST without a key twice"
      }
    },
    {
      threat: "A clock is changed, and an expired token is used",
      protection: "A token is valid only while two clocks agree that it is",
      tests: {
        "packages/core/test/renewal.test.ts":
          "after a clock jumps back by a day, a token is not used past its true lifetime"
      }
    }
  ],

  "A fleet's store is read or changed": [
    {
      threat: "Someone reads the store",
      protection:
        "Entries are encrypted with a key derived from the client secret, and their names are derived from it too",
      tests: {
        "tests/fleet/test/processes.alone.test.ts":
          "show no token, no secret and no client id to anyone who reads the store"
      }
    },
    {
      threat: "Someone changes or moves an entry",
      protection:
        "An entry can be decrypted only under its own name and sequence number, with the right secret. Any other counts as absent",
      tests: {
        "packages/fleet/test/envelope.test.ts": "does not open with another secret, client, audience, endpoint or scope"
      }
    },
    {
      threat: "Someone restores an old failure, or the store keeps it too long",
      protection: "The time when it ends is encrypted with it",
      tests: {
        "packages/fleet/test/sharedFailures.test.ts":
          "take a failure for as long as it is shared, however long the store keeps it"
      }
    },
    {
      threat: "The store keeps a token too long, or a clock is set back",
      protection:
        "Its expiry is encrypted with it. A process takes no token that it has seen expire, or that would outlive its issued lifetime",
      tests: { "packages/fleet/test/model/protocol.model.nightly.test.ts": "keeps the rules of the protocol" }
    },
    {
      threat: "Someone guesses the secret from a stored token",
      protection: "Secrets that are too short are refused for sharing",
      tests: { "packages/fleet/test/sharedTokens.test.ts": "is a ConfigError when the secret is too short" }
    },
    {
      threat: "The connection to Redis is not encrypted",
      protection: "`rediss://` is required, except on this machine",
      tests: { "packages/store-redis/test/connection.test.ts": "a host that is not this machine needs TLS" }
    }
  ],

  "Other users, browsers and dependencies": [
    {
      threat: "Another user of the machine sees a program's arguments",
      protection: "The command takes no credentials as arguments, and `exec` passes the token in a variable",
      tests: {
        "packages/cli/test/exec.test.ts":
          "runs a program with the token and without the secret, and exits with its exit code"
      }
    },
    {
      threat: "Another user reads the command's cache",
      protection: "The token is encrypted as in a fleet, in files that only their owner can read",
      tests: { "packages/cli/test/cache.test.ts": "keep one token for several commands, sealed on disk" }
    },
    {
      threat: "Another user writes a command into your profiles",
      protection: "The file is refused if it belongs to another user, or if others can change it",
      tests: {
        "packages/cli/test/profiles.test.ts":
          "is refused when other users can change it or own it, because it names commands"
      }
    },
    {
      threat: "The packages are bundled for a web page or for workerd",
      protection: "The import throws an error with the reason",
      tests: {
        "tests/integration/test/browser.test.ts":
          "every module throws an error with the reason at import in a browser bundle"
      }
    },
    {
      threat: "A dependency runs code during installation",
      protection: "No package here has an install script, and in this repository, those of dependencies do not run",
      tests: { "pnpm-workspace.yaml": "strictDepBuilds: true" }
    }
  ]
}
