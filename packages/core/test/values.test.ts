import { AccessScope, AccessToken, AccessTokens, TokenError } from "@credit-data/core"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Either, Equal, Fiber, Redacted, Schema, Stream, TestClock } from "effect"
import { inspect } from "node:util"

const make = (secret: string, covered?: ReadonlyArray<AccessScope.AccessScope>) =>
  new AccessToken.AccessToken({
    secret: Redacted.make(secret),
    scopes: ["data-access:all", "read:consumers"],
    requestedAt: DateTime.unsafeMake(0),
    expiresAt: DateTime.unsafeMake(1000),
    covered
  })

describe("AccessToken", () => {
  it("a token expires at expiresAt, and not a millisecond before", () => {
    const token = make("a")
    assert.isFalse(token.isExpiredAt(DateTime.unsafeMake(999)))
    assert.isTrue(token.isExpiredAt(DateTime.unsafeMake(1000)))
  })

  it("a token covers the granted scopes, or any scope when the server decides", () => {
    assert.isTrue(make("a").covers("data-access:all"))
    assert.isFalse(make("a").covers("furnishment:all"))
    assert.isTrue(make("a", AccessScope.all).covers("furnishment:all"))
  })

  it("tokens with different secrets are not equal", () => {
    assert.isFalse(Equal.equals(make("a"), make("b")))
    assert.isTrue(Equal.equals(make("a").secret, make("a").secret))
  })

  it("a printed token does not show its secret", () => {
    const token = make("canary")
    for (
      const text of [
        String(token),
        JSON.stringify(token),
        inspect(token),
        inspect(token, { showHidden: true, depth: 9 })
      ]
    ) {
      assert.notInclude(text, "canary")
    }
    assert.include(inspect(token), "data-access:all")
  })
})

describe("AccessTokens.layerTest", () => {
  it.effect("layerTest without options has a token for all scopes, at localhost", () =>
    Effect.gen(function*() {
      const tokens = yield* AccessTokens.AccessTokens
      const token = yield* tokens.get
      assert.strictEqual(Redacted.value(token.secret), "test-token")
      assert.deepStrictEqual(token.scopes, AccessScope.all)
      assert.deepStrictEqual(tokens.environment, { name: "test", audience: "test", baseUrl: "http://localhost" })
    }).pipe(Effect.provide(AccessTokens.layerTest())))

  it.scoped("layerTest with options is a real supply, which replaces its token", () =>
    Effect.gen(function*() {
      const tokens = yield* AccessTokens.AccessTokens
      const events = yield* Effect.fork(
        Stream.runCollect(Stream.takeUntil(tokens.events, ({ _tag }) => _tag === "Invalidated"))
      )
      yield* Effect.yieldNow()
      const token = yield* tokens.get
      assert.strictEqual(yield* tokens.get, token)
      assert.strictEqual(Redacted.value(token.secret), "mine")
      assert.strictEqual(tokens.environment.baseUrl, "http://localhost:1234")
      assert.strictEqual(tokens.environment.name, "test")
      assert.deepStrictEqual(tokens.requestedScopes, ["furnishment:all"])
      assert.isTrue(token.covers("furnishment:all"))
      assert.isFalse(token.covers("data-access:all"))
      assert.strictEqual(DateTime.distance(token.requestedAt, token.expiresAt), 24 * 3_600_000)
      assert.deepInclude(yield* tokens.status, { environment: "test", phase: "Valid", tokensServed: 2 })
      const texts = [yield* tokens.replace(token), yield* tokens.refresh].map(({ secret }) => Redacted.value(secret))
      assert.deepStrictEqual(texts, ["mine-2", "mine-3"])
      assert.deepStrictEqual(Array.from(yield* Fiber.join(events), ({ _tag }) => _tag).slice(-2), [
        "Obtained",
        "Invalidated"
      ])
      yield* TestClock.adjust("25 hours")
      assert.strictEqual(Redacted.value((yield* tokens.get).secret), "mine-4")
    }).pipe(Effect.provide(AccessTokens.layerTest({
      secret: Redacted.make("mine"),
      scopes: ["furnishment:all"],
      environment: { baseUrl: "http://localhost:1234" }
    }))))
})

const where = { environment: "sandbox", tokenEndpoint: "https://v2.example/oauth2/token" }
const prefix = "The token endpoint https://v2.example/oauth2/token (sandbox)"

describe("TokenError", () => {
  const messages: ReadonlyArray<readonly [TokenError.TokenError, string]> = [
    [
      new TokenError.InvalidClient({
        ...where,
        endpointStatus: 401,
        error: "invalid_client",
        description: "Secret mismatch."
      }),
      `${prefix} refused the client: 401 invalid_client ("Secret mismatch."). Check that the client id and secret belong to this environment, and whether they are swapped. Ask the operator whether they were rotated.`
    ],
    [
      new TokenError.ServerError({ ...where, clientId: "acme\u202e", endpointStatus: 500 }),
      "The token endpoint https://v2.example/oauth2/token (sandbox, client acme\\u{202e}) returned an error: 500. This is usually temporary. If it persists, contact the operator."
    ],
    [
      new TokenError.ServerError({ ...where, endpointStatus: 503 }),
      `${prefix} returned an error: 503. This is usually temporary. If it persists, contact the operator.`
    ],
    [
      new TokenError.ServerError({ ...where, endpointStatus: 400, error: "invalid_target" }),
      `${prefix} returned an error: 400 invalid_target. Check that the audience belongs to this environment, and that the client may request it.`
    ],
    [
      new TokenError.ServerError({ ...where, endpointStatus: 404 }),
      `${prefix} returned an error: 404. The response is not an OAuth error: a gateway, firewall or proxy in front of the authorization server may have sent it. Check that the address belongs to this environment and to the version of the token endpoint that you use.`
    ],
    [
      new TokenError.ServerError({ ...where, endpointStatus: 403 }),
      `${prefix} returned an error: 403. The response is not an OAuth error: a gateway, firewall or proxy in front of the authorization server may have sent it. Check the path in the address, whether a client certificate is required, whether the address of this machine is allowed, and whether the credentials belong to this environment.`
    ],
    [
      new TokenError.ServerError({ ...where, endpointStatus: 400 }),
      `${prefix} returned an error: 400. The response is not an OAuth error: a gateway, firewall or proxy in front of the authorization server may have sent it. Check that the address belongs to this environment and to the version of the token endpoint that you use. Check whether a client certificate is required.`
    ],
    ...["access_denied", "invalid_grant", "consent_required"].map((error): [TokenError.TokenError, string] => [
      new TokenError.ServerError({ ...where, endpointStatus: 403, error, description: "The policy denies it." }),
      `${prefix} returned an error: 403 ${error} ("The policy denies it."). Ask the operator why the server refuses the request.`
    ]),
    [
      new TokenError.ServerError({ ...where, endpointStatus: 200, error: "invalid_client" }),
      `${prefix} returned an error: 200 invalid_client. Check that the client id and secret belong to this environment, and whether they are swapped. Ask the operator whether they were rotated.`
    ],
    [
      new TokenError.ServerError({ ...where, endpointStatus: 409, error: "serialization_failure" }),
      `${prefix} returned an error: 409 serialization_failure. This is usually temporary. If it persists, contact the operator.`
    ],
    [
      new TokenError.ServerError({ ...where, endpointStatus: 400, error: "unsupported_grant_type" }),
      `${prefix} returned an error: 400 unsupported_grant_type. Check that the address belongs to this environment and to the version of the token endpoint that you use.`
    ],
    [
      new TokenError.InvalidResponse({ ...where, endpointStatus: 200, rule: "Expired" }),
      `${prefix} returned a response outside the contract: 200, the token had already expired when it arrived. The server probably hands out one cached token with its remaining lifetime. This resolves itself when the server's cache expires.`
    ],
    [
      new TokenError.TransportError({ ...where, reason: "Proxy", proxy: "proxy.example:3128" }),
      `${prefix} returned no complete response: the forward proxy proxy.example:3128 could not be reached. Check the proxy settings (HTTPS_PROXY), the proxy's credentials and its rules.`
    ],
    [
      new TokenError.TransportError({ ...where, reason: "Proxy", proxyStatus: 407 }),
      `${prefix} returned no complete response: the forward proxy returned 407. Check the proxy settings (HTTPS_PROXY), the proxy's credentials and its rules.`
    ],
    [
      new TokenError.InvalidResponse({ ...where, endpointStatus: 200, rule: "Json" }),
      `${prefix} returned a response outside the contract: 200, a body that is not JSON. Check that the address belongs to the authorization server, and whether a proxy or a login page responds instead.`
    ],
    [
      new TokenError.TransportError({ ...where, reason: "Tls" }),
      `${prefix} returned no complete response: the TLS handshake failed. Check the certificate of the authorization server, the authorities that this program trusts, and whether the authorization server requires a client certificate or another version of TLS. \`credit-data doctor\` shows the reason.`
    ],
    [
      new TokenError.TransportError({
        ...where,
        reason: "Timeout",
        hint: "A hint.",
        nextTryAt: DateTime.unsafeMake(0)
      }),
      `${prefix} did not respond in time. A hint. Next attempt not before 1970-01-01T00:00:00.000Z.`
    ],
    [
      new TokenError.TransportError({ ...where, reason: "Timeout", deadline: Duration.seconds(10) }),
      `${prefix} did not respond within 10 s. Check whether the authorization server is slow, or whether a firewall drops the connection.`
    ],
    [
      new TokenError.TransportError({ ...where, reason: "NotAllowed" }),
      `${prefix} got no request: an HttpClient of the program changed the request so that it cannot be sent. Check transformClient and HttpClient.mapRequest, which may change the address or add a header that cannot be sent.`
    ],
    [
      new TokenError.TransportError({ ...where, reason: "Closed" }),
      `${prefix} got no request: the layer was closed. This is expected during shutdown. Otherwise, provide the layer around the whole program.`
    ],
    [
      new TokenError.InvalidClient({ ...where, endpointStatus: 401, error: "Unauthorized" }),
      `${prefix} refused the client: 401 Unauthorized. The response is not an OAuth error: a gateway, firewall or proxy in front of the authorization server may have sent it. Check that the client id and secret belong to this environment, and whether they are swapped. Ask the operator whether they were rotated.`
    ],
    [
      new TokenError.ServerError({ ...where, endpointStatus: 429, error: "access_denied" }),
      `${prefix} returned an error: 429 access_denied. The server limits the rate of token requests. Check whether a layer or a connection is made for each call, and how many processes request their own tokens.`
    ],
    [
      new TokenError.ServerError({ ...where, endpointStatus: 500, error: "invalid_request" }),
      `${prefix} returned an error: 500 invalid_request. This is usually temporary. If it persists, contact the operator.`
    ],
    [
      new TokenError.ServerError({ ...where, endpointStatus: 403, error: "Forbidden by policy" }),
      `${prefix} returned an error: 403 Forbidden by policy. The response is not an OAuth error: a gateway, firewall or proxy in front of the authorization server may have sent it. Check the path in the address, whether a client certificate is required, whether the address of this machine is allowed, and whether the credentials belong to this environment.`
    ]
  ]
  for (const [error, message] of messages) {
    it(`the message of ${error._tag} states what happened, what it means and what to do`, () =>
      assert.strictEqual(error.message, message))
  }

  it("every rule and every reason has a message", () => {
    for (const rule of TokenError.ResponseRule.literals) {
      assert.match(
        new TokenError.InvalidResponse({ ...where, endpointStatus: 200, rule }).message,
        rule === "Expired" ? /contract: 200, [\w ]+\. The server/ : /contract: 200, [\w ,'_-]+\. Check/
      )
    }
    for (const reason of TokenError.TransportReason.literals) {
      assert.match(
        new TokenError.TransportError({ ...where, reason }).message,
        /(response: [\w ,']+|got no request: [\w ',]+|did not respond in time)\. (Check|This is)/
      )
    }
  })

  it("a TokenError as JSON contains its message, for loggers that print JSON", () => {
    for (const [error, message] of messages) {
      assert.deepInclude(JSON.parse(JSON.stringify(error)), { _tag: error._tag, message, retryable: error.retryable })
    }
  })

  it("an error code with the name of an object property gets the general advice", () => {
    for (const error of ["constructor", "__proto__", "toString"]) {
      assert.match(
        new TokenError.ServerError({ ...where, endpointStatus: 400, error }).message,
        /(constructor|__proto__|toString)\. (The response is not an OAuth error: .*Check that|Ask the operator)/
      )
    }
  })

  it("structuredClone keeps the message of a TokenError", () => {
    for (const [error, message] of messages) assert.strictEqual(structuredClone(error).message, message)
  })

  it("a TokenError is the same after encoding and decoding", () => {
    for (const [error] of messages) {
      const encoded = JSON.parse(JSON.stringify(Schema.encodeSync(TokenError.TokenError)(error)))
      const decoded = Schema.decodeUnknownSync(TokenError.TokenError)(encoded)
      assert.strictEqual(decoded.message, error.message)
      assert.isTrue(TokenError.isTokenError(decoded))
    }
    assert.isFalse(TokenError.isTokenError(new Error("other")))
    assert.isTrue(Either.isLeft(Schema.decodeUnknownEither(TokenError.TokenError)({ _tag: "InvalidClient" })))
  })

  it("a TransportError is retryable, except after a lasting fault and after a 4xx of a proxy", () => {
    const retryable = TokenError.TransportReason.literals.filter((reason) =>
      new TokenError.TransportError({ ...where, reason }).retryable
    )
    const lasting = ["Tls", "ClientCertificate", "NotAllowed", "Closed"]
    assert.deepStrictEqual(retryable, TokenError.TransportReason.literals.filter((reason) => !lasting.includes(reason)))
    const ofProxy = (proxyStatus: number) =>
      new TokenError.TransportError({ ...where, reason: "Proxy", proxyStatus }).retryable
    assert.deepStrictEqual([403, 407, 499, 500, 503].map(ofProxy), [false, false, false, true, true])
  })

  it("an InvalidResponse is retryable only for an expired token", () => {
    const retryable = TokenError.ResponseRule.literals.filter((rule) =>
      new TokenError.InvalidResponse({ ...where, endpointStatus: 200, rule }).retryable
    )
    assert.deepStrictEqual(retryable, ["Expired"])
  })
})
