import { AccessScope } from "@credit-data/core"
import { Fault } from "@credit-data/simulator"
import { makeAuthority, makeCertificate } from "@credit-data/test-support/certificates"
import { FetchHttpClient, HttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Deferred, Effect, Fiber, type Scope, TestClock, TestServices } from "effect"
import type { TlsOptions } from "node:tls"
import { aheadBy } from "../../src/doctor/clock.ts"
import { examine } from "../../src/doctor/doctor.ts"
import type { Step } from "../../src/doctor/step.ts"
import { examined } from "./examined.ts"
import * as Support from "./support.ts"

const { examineTrusting, examineWith, failureOf, lineOf, names, nowhere, resultsOf, simulated } = Support

const probes = [{ method: "GET" as const, path: "/data-access/1" }]

/** What is examined, with an authority if the program has to trust one. */
type Given = Parameters<typeof examineWith>[1] & {
  readonly variables: Record<string, string>
  readonly trusted?: Parameters<typeof examineTrusting>[0]
}

/** Something that is wrong, what is examined then, and what is reported, with a part of the advice. */
type Row = readonly [
  what: string,
  given: Given | Effect.Effect<Given, unknown, Scope.Scope>,
  detail: string | RegExp,
  advice?: string | RegExp
]

const assertText = (text: string, expected: string | RegExp) =>
  typeof expected === "string" ? assert.strictEqual(text, expected) : assert.match(text, expected)

const examineGiven = ({ trusted, variables, ...options }: Given) =>
  trusted === undefined ? examineWith(variables, options) : examineTrusting(trusted, variables)

/** Tests that each row is found by this step: as a failure, or as a warning after which the examination continues. */
const find = (step: string, result: "failed" | "warning", rows: ReadonlyArray<Row>) => {
  for (const [what, given, detail, advice = ""] of rows) {
    it.scopedLive(`${what} is ${result === "failed" ? "found" : "a warning"}`, () =>
      Effect.gen(function*() {
        const lines = yield* examineGiven(Effect.isEffect(given) ? yield* given : given)
        const line = result === "failed" ? failureOf(lines) : lineOf(lines, result)
        assert.strictEqual(line.name, step)
        assertText(line.detail, detail)
        if (typeof advice === "string") assert.include(line.advice, advice)
        else assert.match(line.advice, advice)
      }), 30_000)
  }
}

const changed = (variables: Record<string, string>): Given => ({ variables: { ...nowhere, ...variables } })

/** An authorization server at this address. */
const at = (address: string) => changed({ CREDIT_DATA_AUTH_V2_URL: address })
const atPort = <E, R>(host: string, port: Effect.Effect<number, E, R>) =>
  Effect.map(port, (port) => at(`${host}:${port}`))

/** An authorization server over TLS with a certificate of an authority, which the program trusts or not. */
const overTls = (
  options: { readonly trusts: boolean; readonly host?: string; readonly days?: number; readonly tls?: TlsOptions }
) =>
  Effect.gen(function*() {
    const { days = 90, host = "localhost", tls = {}, trusts } = options
    const authority = yield* makeAuthority
    const certificate = yield* makeCertificate({ host, days, authority })
    const given = at(`https://localhost:${yield* Support.tls(certificate, { ca: authority.cert, ...tls })}`)
    return trusts ? { ...given, trusted: authority } : given
  })

/** A simulator, and other variables for it. */
const simulatedWith = (changes: Record<string, string>) =>
  Effect.map(simulated, ({ variables }): Given => ({ variables: { ...variables, ...changes } }))

const json = (status: number, error: string) => Fault.oauthError(status, error)
const html = (status: number) =>
  Fault.Response({ status, headers: { "content-type": "text/html; charset=utf-8" }, body: "<html>Log in</html>" })

describe("the configuration", () => {
  const { CREDIT_DATA_AUDIENCE: _, CREDIT_DATA_CLIENT_SECRET: __, ...variablesWithout } = nowhere
  find("configuration", "failed", [
    [
      "a set of missing variables",
      { variables: variablesWithout },
      "2 variables are missing or malformed",
      /Set CREDIT_DATA_AUDIENCE: .*Set CREDIT_DATA_CLIENT_SECRET: the client secret that the operator issued\./
    ],
    [
      "a malformed variable, without its value,",
      changed({ CREDIT_DATA_SCOPES: "canary-value" }),
      "CREDIT_DATA_SCOPES is malformed",
      "Change CREDIT_DATA_SCOPES: expected one or more of data-access:all"
    ],
    [
      "a byte order mark before an address",
      at(`\uFEFF${nowhere.CREDIT_DATA_AUTH_V2_URL}`),
      "CREDIT_DATA_AUTH_V2_URL is malformed",
      /^Change CREDIT_DATA_AUTH_V2_URL: .*such as a byte order mark/
    ],
    [
      "a version that does not exist",
      { ...changed({ CREDIT_DATA_AUTH: "canary-value" }), auth: undefined },
      "CREDIT_DATA_AUTH is malformed",
      "Change CREDIT_DATA_AUTH: expected v1 or v2."
    ],
    ...["canary-value:3128", "http://canary-proxy-user:12#canary-proxy-password@proxy.example:3128", "http://%@p"].map(
      (proxy): Row => [
        `the malformed proxy ${proxy}, without its value,`,
        { variables: nowhere, proxies: { HTTPS_PROXY: proxy } },
        "HTTPS_PROXY is malformed",
        "Change HTTPS_PROXY: expected http://HOST:PORT or"
      ]
    )
  ])
})

describe("the network", () => {
  find("name", "failed", [
    [
      "a name that does not resolve",
      at("https://oauth.invalid"),
      // without a network, DNS does not respond
      /^oauth\.invalid does not resolve$|^DNS did not respond for oauth\.invalid$/,
      "set HTTPS_PROXY if this network needs a forward proxy"
    ]
  ])

  find("connection", "failed", [
    [
      "a port on which nothing listens",
      at("https://127.0.0.1:1"),
      "127.0.0.1:1 refused the connection",
      "Check the host and the port in CREDIT_DATA_AUTH_V2_URL"
    ],
    [
      "a proxy that cannot be reached",
      {
        variables: nowhere,
        proxies: { https_proxy: "http://canary-proxy-user:canary-proxy-password@127.0.0.1:1" }
      },
      "the proxy http://127.0.0.1:1 refused the connection",
      "Check scheme, host and port in https_proxy"
    ]
  ])

  for (
    const [status, user, advice] of [
      [407, "", "Add a user and a password to HTTPS_PROXY"],
      [
        407,
        "canary-proxy-user:canary-proxy-password@",
        "Correct the user and the password of the proxy in HTTPS_PROXY."
      ],
      [403, "", "Ask the administrator of the proxy to allow CONNECT to oauth.tests.example:443"],
      [502, "", "The proxy could not reach oauth.tests.example:443"]
    ] as const
  ) {
    it.scopedLive(`a proxy that returns ${status} is found${user === "" ? "" : ", and its user is not shown"}`, () =>
      Effect.gen(function*() {
        const { port, received } = yield* Support.forwardProxy(status)
        const lines = yield* examineWith(nowhere, { proxies: { HTTPS_PROXY: `http://${user}127.0.0.1:${port}` } })
        const failed = failureOf(lines)
        const detail = `the proxy http://127.0.0.1:${port} returned ${status}`
        assert.deepInclude(failed, { name: "connection", detail })
        assert.include(failed.advice, advice)
        const authorization = user === "" ? undefined : `Basic ${btoa(user.slice(0, -1))}`
        assert.deepStrictEqual(received, [{ target: "oauth.tests.example:443", authorization }])
        assert.strictEqual(lines[1]?.result, "skipped")
      }))
  }

  it.scopedLive("nothing goes to a loopback address through a proxy", () =>
    Effect.gen(function*() {
      const { variables } = yield* simulated
      const { port, received } = yield* Support.forwardProxy(200)
      const lines = yield* examineWith(variables, { proxies: { HTTP_PROXY: `http://127.0.0.1:${port}` }, probes })
      assert.deepStrictEqual(resultsOf(lines), names.map((name) => `${name} ${name === "TLS" ? "skipped" : "ok"}`))
      assert.deepStrictEqual(received, [])
    }))

  it.scopedLive("no proxy is used for the hosts of NO_PROXY", () =>
    Effect.gen(function*() {
      const { port, received } = yield* Support.forwardProxy(403)
      const proxies = { HTTPS_PROXY: `http://127.0.0.1:${port}` }
      yield* examineWith(nowhere, { proxies: { ...proxies, NO_PROXY: "other.example, tests.example" } })
      assert.deepStrictEqual(received, [])
      yield* examineWith(nowhere, { proxies: { ...proxies, NO_PROXY: "other.example, ests.example" } })
      assert.isAbove(received.length, 0)
    }))
})

describe("TLS", () => {
  const certificateRequired = { requestCert: true }
  find("TLS", "failed", [
    [
      "a certificate that is not trusted, with its issuer,",
      overTls({ trusts: false }),
      /^the certificate is not trusted \([A-Z_]+\), issued by An authority of the tests$/,
      "set NODE_EXTRA_CA_CERTS to a file with its certificate"
    ],
    [
      "a certificate that has expired",
      overTls({ trusts: true, days: -3 }),
      /^the certificate expired 3 days ago, on \d{4}-\d\d-\d\d$/,
      "renew"
    ],
    [
      "a certificate for another host",
      overTls({ trusts: true, host: "elsewhere.example" }),
      "the certificate is for elsewhere.example, not for localhost",
      "Correct the host in CREDIT_DATA_AUTH_V2_URL"
    ],
    [
      "a server that ends the handshake",
      atPort("https://localhost", Support.resetting),
      "the handshake failed (ECONNRESET)",
      "no firewall blocks TLS to localhost"
    ],
    [
      "a port for https in an address with http",
      Effect.map(
        overTls({ trusts: false }),
        ({ variables }) =>
          at(String(variables["CREDIT_DATA_AUTH_V2_URL"]).replace("https://localhost", "http://127.0.0.1"))
      ),
      /^port \d+ speaks TLS, and the address begins with http$/,
      /^Change the beginning of CREDIT_DATA_AUTH_V2_URL to https, or correct its port\.$/
    ],
    [
      "a server that speaks HTTP/2 only",
      overTls({ trusts: false, tls: { ALPNProtocols: ["h2"] } }),
      /^the handshake failed \(\w+NO_APPLICATION_PROTOCOL\)$/,
      "which ciphers and versions of TLS and HTTP it accepts"
    ],
    [
      "a port for plain http",
      atPort("https://localhost", Support.responding({})),
      /./,
      "The server did not respond with TLS."
    ],
    [
      "a server that requires a client certificate, with TLS 1.2,",
      overTls({ trusts: true, tls: { ...certificateRequired, maxVersion: "TLSv1.2" } }),
      /./,
      "requires a client certificate"
    ],
    [
      // it refuses the client after the client's handshake has ended
      "a server that requires a client certificate, with TLS 1.3,",
      overTls({ trusts: true, tls: { ...certificateRequired, minVersion: "TLSv1.3" } }),
      "the handshake failed (ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED)",
      "requires a client certificate"
    ],
    [
      "a step that does not end within the given time limit",
      Effect.map(Support.silent, ({ port }) => ({ ...at(`https://127.0.0.1:${port}`), timeLimit: 200 })),
      "not done after 0.2 seconds"
    ]
  ])

  it.scopedLive(
    "a certificate that expires within 30 days is a warning, and the examination continues",
    () =>
      Effect.gen(function*() {
        const { api, authority, variables } = yield* Support.simulatedWithCertificates(12.5)
        const lines = yield* examineTrusting(authority, variables, "/data-access/1")
        const { advice, detail, name } = lineOf(lines, "warning")
        assert.strictEqual(name, "TLS")
        assert.match(detail, /^the certificate expires in 12 days, on .*; issued by An authority of the tests$/)
        assert.match(advice, /^Ask the operator to renew the certificate before /)
        assert.deepStrictEqual(resultsOf(lines).slice(4), ["clock ok", "token ok", "scopes ok", "API warning"])
        const called = `GET /data-access/1 returned 200; connected to localhost:${api}, ${detail}`
        assert.strictEqual(lines[7]?.detail, called)
      }),
    30_000
  )

  it.scoped("a server that never responds to the handshake is found after 10 seconds, and its connection is closed", () =>
    Effect.gen(function*() {
      const { connections, port } = yield* Support.silent
      const running = yield* Effect.fork(examineGiven(at(`https://127.0.0.1:${port}`)))
      const until = (wanted: () => boolean) =>
        Effect.sleep("50 millis").pipe(Effect.repeat({ until: wanted }), TestServices.provideLive)
      yield* until(() => connections() === 1)
      yield* TestClock.adjust("10 seconds")
      const failed = failureOf(yield* Fiber.join(running))
      assert.deepInclude(failed, { name: "TLS", detail: "not done after 10 seconds" })
      assert.include(failed.advice, "Check that the port in the address is an https port")
      yield* until(() => connections() === 0)
    }))
})

describe("the clock", () => {
  const minute = 60_000
  const dated = (aheadMillis: number) => ({ date: new Date(Date.now() - aheadMillis).toUTCString() })
  const refusedAt = (headers: Record<string, string>) =>
    Effect.gen(function*() {
      const { simulator, variables } = yield* simulated
      yield* simulator.failTokenRequests(Fault.Response({ status: 401, headers }), { times: 2 })
      return yield* examineWith(variables)
    })
  const advice = /^Synchronize the clock of this machine \(NTP\): it shows \S+Z, and .* shows \S+Z\.$/

  for (
    const [what, ahead, detail] of [
      ["an hour behind", -60 * minute, "60 minutes behind the authorization server"],
      ["a minute ahead", 60_500, /^\d+ seconds ahead of the authorization server$/]
    ] as const
  ) {
    it.scopedLive(`a clock that is ${what} is a warning, and a wrong secret is found all the same`, () =>
      Effect.gen(function*() {
        const lines = yield* refusedAt(dated(ahead))
        const line = lineOf(lines, "warning")
        assert.strictEqual(line.name, "clock")
        assertText(line.detail, detail)
        assert.match(line.advice, advice)
        assert.deepInclude(failureOf(lines), { name: "token", detail: "the client was refused: 401" })
      }))
  }

  it.scopedLive("a wrong clock does not end the examination, which exits as if it were right", () =>
    Effect.gen(function*() {
      const { simulator, variables } = yield* simulated
      const token = { access_token: "canary", token_type: "Bearer", expires_in: 60 }
      yield* simulator.failTokenRequests(
        Fault.Response({ status: 200, headers: dated(60 * minute), body: JSON.stringify(token) })
      )
      const lines = yield* examineWith(variables)
      assert.deepStrictEqual(resultsOf(lines).slice(4), ["clock warning", "token ok", "scopes ok", "API ok"])
    }))

  it.scopedLive("a response without a date is a warning", () =>
    Effect.gen(function*() {
      const lines = yield* examineWith((yield* atPort("http://127.0.0.1", Support.responding({}))).variables)
      assert.deepInclude(lineOf(lines, "warning"), {
        name: "clock",
        detail: "not compared: the authorization server sent no date"
      })
    }))

  it.scopedLive("is not compared if there is no response", () =>
    Effect.gen(function*() {
      const lines = yield* examineWith((yield* atPort("http://127.0.0.1", Support.resetting)).variables)
      assert.deepInclude(lines[4], { name: "clock", result: "skipped" })
      assert.strictEqual(failureOf(lines).name, "token")
    }))

  it("a slow response and the missing milliseconds of a date do not count as a difference", () => {
    assert.strictEqual(aheadBy({ date: 5_000, sentAt: 5_900, receivedAt: 6_000 }), 0)
    assert.strictEqual(aheadBy({ date: 5_000, sentAt: 1_000, receivedAt: 9_000 }), 0)
    assert.strictEqual(aheadBy({ date: 5_000, sentAt: 36_500, receivedAt: 40_000 }), 30_500)
    assert.strictEqual(aheadBy({ date: 50_000, sentAt: 10_000, receivedAt: 12_000 }), -38_000)
  })
})

describe("the token", () => {
  const credentials = "CREDIT_DATA_CLIENT_ID and CREDIT_DATA_CLIENT_SECRET"
  const address = "CREDIT_DATA_AUTH_V2_URL"
  const busy = (seconds: string) => Fault.Response({ status: 429, headers: { "retry-after": seconds } })
  const busyFor = (time: string) => `temporary failure: 429, and it asks clients to wait ${time} (Retry-After)`
  const noToken = Fault.Response({ status: 200, body: "canary-value" })

  /** What the token endpoint returns, what the step reports then, and the variables that it names. */
  const rows: ReadonlyArray<readonly [response: Fault.Fault, detail: string, variables: string | undefined]> = [
    [json(401, "invalid_client"), "the client was refused: 401 invalid_client", credentials],
    [json(200, "invalid_client"), "the client was refused: 200 invalid_client", credentials],
    [json(400, "unauthorized_client"), "error response: 400 unauthorized_client", "CREDIT_DATA_CLIENT_ID"],
    [json(403, "access_denied"), "error response: 403 access_denied", undefined],
    [
      json(400, "invalid_target"),
      "error response: 400 invalid_target; the audience may be wrong",
      "CREDIT_DATA_AUDIENCE"
    ],
    [json(400, "invalid_scope"), "error response: 400 invalid_scope", "CREDIT_DATA_SCOPES"],
    [json(404, "not_found"), "no token endpoint there: 404 not_found", address],
    [json(503, "temporarily_unavailable"), "temporary failure: 503 temporarily_unavailable", undefined],
    [json(501, "unsupported"), "error response: 501 unsupported", undefined],
    [html(403), "not an OAuth error: 403", undefined],
    [busy("20"), busyFor("20 seconds"), undefined],
    [busy("120"), busyFor("at least 60 seconds"), undefined],
    [noToken, "the response is not a token: 200", address]
  ]
  for (const [response, detail, variables] of rows) {
    it.scopedLive(`reports "${detail}" and names ${variables ?? "no variable"}`, () =>
      Effect.gen(function*() {
        const { simulator, variables: configured } = yield* simulated
        yield* simulator.failTokenRequests(response, { times: 2 })
        const failed = failureOf(yield* examineWith(configured))
        assert.deepInclude(failed, { name: "token", detail })
        assert.strictEqual(/See (.*)\.$/.exec(failed.advice)?.[1], variables)
      }))
  }

  find("token", "failed", [
    [
      "a compressed response that was not requested",
      atPort("http://127.0.0.1", Support.compressing),
      "the response is compressed (gzip), which was not requested"
    ]
  ])

  const notGranted = AccessScope.all.filter((scope) => scope !== "data-access:all").join(", ")
  find("scopes", "failed", [
    [
      "a scope that was not granted",
      Effect.tap(simulated, ({ simulator }) => simulator.grantScopes(["data-access:all"])),
      `missing: ${notGranted}; granted: data-access:all`,
      `Ask the operator to grant ${notGranted} to this client`
    ]
  ])

  it.scopedLive("a token request and the probe are all that is sent, and the token is not shown", () =>
    Effect.gen(function*() {
      const { simulator, variables } = yield* simulated
      const lines = yield* examineWith(variables, { probes })
      assert.deepStrictEqual(
        (yield* simulator.received).map(({ method, outcome, url }) => [
          method,
          url,
          outcome._tag === "Responded" ? outcome.status : outcome._tag
        ]),
        [["POST", "/oauth2/token", 200], ["GET", "/data-access/1", 200]]
      )
      const tokens = yield* Support.tokensOf(simulator)
      assert.strictEqual(tokens.length, 1)
      for (const token of tokens) assert.notInclude(JSON.stringify(lines), token)
    }))

  it.scopedLive("the scopes of V1 are listed, and none is missing", () =>
    Effect.gen(function*() {
      const { variables } = yield* simulated
      const lines = yield* examineWith(variables, { auth: "v1", probes })
      assert.deepStrictEqual(resultsOf(lines).slice(4), names.slice(4).map((name) => `${name} ok`))
      assert.include(lines[6]?.detail, "granted: read:consumers, write:consumers")
    }))
})

describe("the API", () => {
  const get = "GET /data-access/1 returned"
  const plain = (status: number) => Fault.Response({ status, headers: { location: "https://other.example" } })

  /** What the API returns to the probe, what the step reports then, and a part of its advice. */
  const rows: ReadonlyArray<
    readonly [response: Fault.Fault, result: Step["result"], detail: string, advice: string]
  > = [
    [plain(401), "failed", `${get} 401: the API rejects the token`, "belong to the same environment"],
    [plain(403), "failed", `${get} 403: the token is not authorized for this path`, "Check that CREDIT_DATA_SCOPES"],
    [html(200), "failed", `${get} 200 with an HTML page`, "login page"],
    [html(403), "failed", `${get} 403 with an HTML page`, "login page"],
    [Fault.Reset(), "failed", "no response (Reset)", "HTTP/1.1"],
    [plain(404), "warning", `${get} 404; the token was not rejected`, "Try a path that exists"],
    [plain(503), "warning", `${get} 503; the token was not rejected`, "Try again in a few minutes"],
    [plain(302), "failed", `${get} 302, a redirect`, "Correct CREDIT_DATA_BASE_URL"]
  ]
  for (const [response, result, detail, advice] of rows) {
    it.scopedLive(`reports "${detail}" as ${result}`, () =>
      Effect.gen(function*() {
        const { simulator, variables } = yield* simulated
        yield* simulator.failCalls(response, { times: 9 })
        const lines = yield* examineWith(variables, { probes })
        assert.deepInclude(lines[7], { name: "API", result, detail })
        assert.include(lines[7]?.advice, advice)
        for (const token of yield* Support.tokensOf(simulator)) assert.notInclude(JSON.stringify(lines), token)
      }))
  }

  find("API", "failed", [
    [
      "an API on which nothing listens, with its variable,",
      simulatedWith({ CREDIT_DATA_BASE_URL: "http://127.0.0.1:1" }),
      "127.0.0.1:1 refused the connection",
      "CREDIT_DATA_BASE_URL"
    ],
    [
      "a path on another host, which gets no token,",
      Effect.map(simulated, ({ variables }): Given => ({
        variables,
        probes: [{ method: "GET", path: "https://other.example/1" }]
      })),
      "the path is not below the base URL"
    ]
  ])

  const atAuthorizationServer = Effect.map(simulated, ({ variables }): Given => ({
    variables: { ...variables, CREDIT_DATA_BASE_URL: variables["CREDIT_DATA_AUTH_V2_URL"] ?? "" },
    probes
  }))
  it.scopedLive("without a path, a base URL at the authorization server is said to be there", () =>
    Effect.gen(function*() {
      const { probes: _, ...given } = yield* atAuthorizationServer
      assert.match(
        (yield* examineGiven(given))[7]?.detail ?? "",
        /^CREDIT_DATA_BASE_URL leads to the authorization server;/
      )
    }))

  find("API", "warning", [
    [
      "a base URL at the authorization server",
      atAuthorizationServer,
      "GET /data-access/1 returned 404; the token was not rejected",
      /^CREDIT_DATA_BASE_URL leads to the authorization server: set it to the address of the API\./
    ],
    [
      "a compressed body that was not requested",
      Effect.flatMap(Support.compressing, (port) =>
        Effect.map(
          simulatedWith({ CREDIT_DATA_BASE_URL: `http://127.0.0.1:${port}` }),
          (given) => ({ ...given, probes })
        )),
      "GET /data-access/1 returned 200; the body is compressed (gzip), which was not requested"
    ]
  ])

  it.scopedLive("the API is connected to without a path, and the detail names the option", () =>
    Effect.gen(function*() {
      const { simulator, variables } = yield* simulated
      const lines = yield* examineWith(variables)
      assert.deepInclude(lines[7], { name: "API", result: "ok" })
      assert.include(lines[7]?.detail, "the token was not tried (--probe PATH)")
      assert.isEmpty((yield* simulator.received).filter(({ server }) => server === "Api"))
    }))
})

describe("an examination", () => {
  const withVariables = (variables: Record<string, string>) =>
    Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(variables))))

  it.scopedLive("is ok in every step when nothing is wrong", () =>
    Effect.gen(function*() {
      const { authority, variables } = yield* Support.simulatedWithCertificates(90.5)
      const lines = yield* examineTrusting(authority, variables, "/data-access/1")
      assert.deepStrictEqual(resultsOf(lines), names.map((name) => `${name} ok`))
      assert.strictEqual(lines[3]?.detail, "trusted, 90 days left, issued by An authority of the tests")
      assert.deepStrictEqual(lines.map(({ advice }) => advice), names.map(() => ""))
    }), 30_000)

  it.scoped("reports each step when it is done", () =>
    Effect.gen(function*() {
      const { variables } = yield* atPort("http://127.0.0.1", Support.responding({}))
      const reported: Array<string> = []
      const fourth = yield* Deferred.make<void>()
      const report = ({ name }: Step) => {
        reported.push(name)
        return name === "TLS" ? Deferred.succeed(fourth, undefined) : Effect.void
      }
      yield* examine({ auth: "v2", probes: [], report }).pipe(
        Effect.race(Deferred.await(fourth)),
        Effect.provideService(HttpClient.HttpClient, HttpClient.make(() => Effect.never)),
        withVariables(variables)
      )
      assert.deepStrictEqual(reported, names.slice(0, 4))
    }))

  it.scopedLive("reports a defect of the client as a failed step, without its message", () =>
    Effect.gen(function*() {
      const { variables } = yield* atPort("http://127.0.0.1", Support.responding({}))
      const defect = HttpClient.make(() => Effect.die(new TypeError(Support.secret)))
      const lines = yield* examined({ auth: "v2", probes: [] }).pipe(
        Effect.provideService(HttpClient.HttpClient, defect),
        withVariables(variables)
      )
      const failed = failureOf(Support.checkCanaries(lines))
      assert.deepInclude(failed, { name: "token", detail: "no complete response (Other)" })
    }))

  it.scopedLive("uses any client", () =>
    Effect.gen(function*() {
      const { variables } = yield* simulated
      const lines = yield* examined({ auth: "v2", probes }).pipe(
        Effect.provide(FetchHttpClient.layer),
        withVariables(variables)
      )
      assert.isEmpty(Support.checkCanaries(lines).filter(({ result }) => result === "failed"))
    }))
})
