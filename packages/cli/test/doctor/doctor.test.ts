import { Fault } from "@credit-data/simulator"
import { makeAuthority, makeCertificate } from "@credit-data/test-support/certificates"
import { FetchHttpClient, HttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Deferred, Effect, Fiber, TestClock, TestServices } from "effect"
import { aheadBy } from "../../src/doctor/clock.ts"
import { examine } from "../../src/doctor/doctor.ts"
import type { Step } from "../../src/doctor/step.ts"
import { examined, type Line } from "./examined.ts"
import * as Support from "./support.ts"

const { examineTrusting, examineWith, lineOf, nowhere, resultsOf, simulated } = Support

const names = ["configuration", "name", "connection", "TLS", "clock", "token", "scopes", "API"]

/** The failed step. Checks that all steps before it were run, and that those after it were not. */
const failureOf = (lines: ReadonlyArray<Line>): Line => {
  const failed = lineOf(lines, "failed")
  const at = names.indexOf(failed.name)
  assert.deepStrictEqual(lines.map(({ name }) => name), names)
  assert.deepStrictEqual(
    lines.filter(({ detail }) => detail === `not run, because ${failed.name} failed`).map(({ name }) => name),
    names.slice(at + 1)
  )
  return failed
}

describe("the configuration", () => {
  it.scopedLive("all missing variables are named at once", () =>
    Effect.gen(function*() {
      const { CREDIT_DATA_AUDIENCE: _, CREDIT_DATA_CLIENT_SECRET: __, ...rest } = nowhere
      const failed = failureOf(yield* examineWith(rest))
      assert.strictEqual(failed.name, "configuration")
      assert.strictEqual(failed.detail, "2 variables are missing or malformed")
      assert.include(
        failed.advice,
        "Set CREDIT_DATA_AUDIENCE: the audience identifier of the environment, for example "
      )
      assert.include(failed.advice, "Set CREDIT_DATA_CLIENT_SECRET: the client secret that the operator issued.")
    }))

  it.scopedLive("a malformed variable is named with what was expected, without its value", () =>
    Effect.gen(function*() {
      const failed = failureOf(yield* examineWith({ ...nowhere, CREDIT_DATA_SCOPES: "canary-value" }))
      assert.strictEqual(failed.detail, "CREDIT_DATA_SCOPES is malformed")
      assert.include(failed.advice, "Change CREDIT_DATA_SCOPES: expected one or more of data-access:all")
    }))

  it.scopedLive("an address with the token path is found", () =>
    Effect.gen(function*() {
      const address = "https://canary-value.example/oauth2/token"
      const failed = failureOf(yield* examineWith({ ...nowhere, CREDIT_DATA_AUTH_V2_URL: address }))
      assert.strictEqual(
        failed.advice,
        "Change CREDIT_DATA_AUTH_V2_URL: expected the address without /oauth2/token."
      )
    }))

  it.scopedLive("a byte order mark before an address is found", () =>
    Effect.gen(function*() {
      const address = `\uFEFF${nowhere.CREDIT_DATA_AUTH_V2_URL}`
      const failed = failureOf(yield* examineWith({ ...nowhere, CREDIT_DATA_AUTH_V2_URL: address }))
      assert.match(failed.advice, /^Change CREDIT_DATA_AUTH_V2_URL: .*such as a byte order mark/)
    }))

  it.scopedLive("http instead of https is found", () =>
    Effect.gen(function*() {
      const failed = failureOf(yield* examineWith({ ...nowhere, CREDIT_DATA_BASE_URL: "http://canary-value.example" }))
      assert.include(failed.advice, "Change CREDIT_DATA_BASE_URL: expected https (http only for localhost")
    }))

  for (
    const proxy of [
      "canary-value:3128",
      "http://canary-proxy-user:12#canary-proxy-password@proxy.example:3128",
      "http://%@p"
    ]
  ) {
    it.scopedLive(`a malformed proxy is named without its value: ${proxy}`, () =>
      Effect.gen(function*() {
        const failed = failureOf(yield* examineWith(nowhere, { proxies: { HTTPS_PROXY: proxy } }))
        assert.strictEqual(failed.detail, "HTTPS_PROXY is malformed")
        assert.include(failed.advice, "Change HTTPS_PROXY: expected http://HOST:PORT or")
      }))
  }
})

describe("the network", () => {
  it.scopedLive("a name that does not resolve is found", () =>
    Effect.gen(function*() {
      const failed = failureOf(yield* examineWith({ ...nowhere, CREDIT_DATA_AUTH_V2_URL: "https://oauth.invalid" }))
      assert.strictEqual(failed.name, "name")
      // without a network, DNS does not respond
      assert.match(failed.detail, /^oauth\.invalid does not resolve$|^DNS did not respond for oauth\.invalid$/)
      assert.include(failed.advice, "set HTTPS_PROXY if this network needs a forward proxy")
    }))

  it.scopedLive("a port on which nothing listens is found", () =>
    Effect.gen(function*() {
      const failed = failureOf(yield* examineWith({ ...nowhere, CREDIT_DATA_AUTH_V2_URL: "https://127.0.0.1:1" }))
      assert.deepInclude(failed, { name: "connection", detail: "127.0.0.1:1 refused the connection" })
      assert.include(failed.advice, "Check the host and the port in CREDIT_DATA_AUTH_V2_URL")
    }))

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
        assert.deepInclude(failed, {
          name: "connection",
          detail: `the proxy http://127.0.0.1:${port} returned ${status}`
        })
        assert.include(failed.advice, advice)
        const authorization = user === "" ? undefined : `Basic ${btoa(user.slice(0, -1))}`
        assert.deepStrictEqual(received, [{ target: "oauth.tests.example:443", authorization }])
        assert.strictEqual(lines[1]?.result, "skipped")
      }))
  }

  it.scopedLive("a proxy that cannot be reached is found", () =>
    Effect.gen(function*() {
      const proxies = { https_proxy: "http://canary-proxy-user:canary-proxy-password@127.0.0.1:1" }
      const failed = failureOf(yield* examineWith(nowhere, { proxies }))
      assert.strictEqual(failed.detail, "the proxy http://127.0.0.1:1 refused the connection")
      assert.include(failed.advice, "Check scheme, host and port in https_proxy")
    }))

  it.scopedLive("nothing goes to a loopback address through a proxy", () =>
    Effect.gen(function*() {
      const { variables } = yield* simulated
      const { port, received } = yield* Support.forwardProxy(200)
      const proxies = { HTTP_PROXY: `http://127.0.0.1:${port}` }
      const probes = [{ method: "GET" as const, path: "/data-access/1" }]
      const lines = yield* examineWith(variables, { proxies, probes })
      assert.deepStrictEqual(
        resultsOf(lines),
        names.map((name) => `${name} ${name === "TLS" ? "skipped" : "ok"}`)
      )
      assert.deepStrictEqual(received, [])
    }))

  it.scopedLive("no proxy is used for the hosts of NO_PROXY", () =>
    Effect.gen(function*() {
      const { port, received } = yield* Support.forwardProxy(403)
      const proxies = { HTTPS_PROXY: `http://127.0.0.1:${port}` }
      yield* examineWith(nowhere, { proxies: { ...proxies, NO_PROXY: "other.example, tests.example" } })
      assert.deepStrictEqual(received, [])
      yield* examineWith(nowhere, { proxies: { ...proxies, NO_PROXY: "other.example" } })
      assert.isAbove(received.length, 0)
    }))
})

describe("TLS", () => {
  it.scopedLive("a certificate that is not trusted is found, with its issuer", () =>
    Effect.gen(function*() {
      const authority = yield* makeAuthority
      const port = yield* Support.tls(yield* makeCertificate({ host: "localhost", days: 90, authority }))
      const failed = failureOf(
        yield* examineWith({ ...nowhere, CREDIT_DATA_AUTH_V2_URL: `https://localhost:${port}` })
      )
      assert.strictEqual(failed.name, "TLS")
      assert.match(failed.detail, /^the certificate is not trusted \([A-Z_]+\), issued by An authority of the tests$/)
      assert.include(failed.advice, "set NODE_EXTRA_CA_CERTS to a file with its certificate")
    }))

  it.scopedLive("a server that ends the handshake is found", () =>
    Effect.gen(function*() {
      const port = yield* Support.resetting
      const failed = failureOf(yield* examineWith({ ...nowhere, CREDIT_DATA_AUTH_V2_URL: `https://localhost:${port}` }))
      assert.deepInclude(failed, { name: "TLS", detail: "the handshake failed (ECONNRESET)" })
      assert.include(failed.advice, "no firewall blocks TLS to localhost")
    }))

  it.scopedLive("a port for https in an address with http is found", () =>
    Effect.gen(function*() {
      const port = yield* Support.tls(
        yield* makeCertificate({ host: "localhost", days: 90, authority: yield* makeAuthority })
      )
      const failed = failureOf(yield* examineWith({ ...nowhere, CREDIT_DATA_AUTH_V2_URL: `http://127.0.0.1:${port}` }))
      assert.deepInclude(failed, {
        name: "TLS",
        detail: `port ${port} speaks TLS, and the address begins with http`,
        advice: "Change the beginning of CREDIT_DATA_AUTH_V2_URL to https, or correct its port."
      })
    }))

  it.scopedLive("a server that speaks HTTP/2 only is found", () =>
    Effect.gen(function*() {
      const port = yield* Support.tls(
        yield* makeCertificate({ host: "localhost", days: 90, authority: yield* makeAuthority }),
        { ALPNProtocols: ["h2"] }
      )
      const failed = failureOf(yield* examineWith({ ...nowhere, CREDIT_DATA_AUTH_V2_URL: `https://localhost:${port}` }))
      assert.strictEqual(failed.name, "TLS")
      assert.match(failed.detail, /^the handshake failed \(\w+NO_APPLICATION_PROTOCOL\)$/)
      assert.include(failed.advice, "The server speaks HTTP/2 only, and this program speaks HTTP/1.1.")
    }))

  it.scopedLive("a port for plain http is found", () =>
    Effect.gen(function*() {
      const port = yield* Support.responding({})
      const failed = failureOf(yield* examineWith({ ...nowhere, CREDIT_DATA_AUTH_V2_URL: `https://localhost:${port}` }))
      assert.strictEqual(failed.name, "TLS")
      assert.include(failed.advice, "The server did not respond with TLS.")
    }))

  for (
    const [what, certificate, detail, advice] of [
      [
        "has expired",
        { host: "localhost", days: -3 },
        /^the certificate expired 3 days ago, on \d{4}-\d\d-\d\d$/,
        "renew"
      ],
      [
        "is for another host",
        { host: "elsewhere.example", days: 90 },
        /^the certificate is for elsewhere\.example, not for localhost$/,
        "Correct the host in CREDIT_DATA_AUTH_V2_URL"
      ]
    ] as const
  ) {
    it.scopedLive(`a certificate that ${what} is found`, () =>
      Effect.gen(function*() {
        const authority = yield* makeAuthority
        const port = yield* Support.tls(yield* makeCertificate({ ...certificate, authority }))
        const variables = { ...nowhere, CREDIT_DATA_AUTH_V2_URL: `https://localhost:${port}` }
        const failed = failureOf(yield* examineTrusting(authority, variables))
        assert.strictEqual(failed.name, "TLS")
        assert.match(failed.detail, detail)
        assert.include(failed.advice, advice)
      }), 30_000)
  }

  // a server of TLS 1.3 asks for the certificate after the client's handshake has ended
  for (const [version, step] of [["TLSv1.2", "TLS"], ["TLSv1.3", "token"]] as const) {
    it.scopedLive(
      `a server that requires a client certificate is found, with ${version}`,
      () =>
        Effect.gen(function*() {
          const authority = yield* makeAuthority
          const port = yield* Support.tls(
            yield* makeCertificate({ host: "localhost", days: 90, authority }),
            { ca: authority.cert, requestCert: true, maxVersion: version }
          )
          const variables = { ...nowhere, CREDIT_DATA_AUTH_V2_URL: `https://localhost:${port}` }
          const failed = failureOf(yield* examineTrusting(authority, variables))
          assert.strictEqual(failed.name, step)
          assert.include(failed.advice, "requires a client certificate")
        }),
      30_000
    )
  }

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
        assert.strictEqual(
          lines[7]?.detail,
          `GET /data-access/1 returned 200; connected to localhost:${api}, ${detail}`
        )
      }),
    30_000
  )

  it.scoped("a server that never responds to the handshake is found after 10 seconds, and its connection is closed", () =>
    Effect.gen(function*() {
      const { connections, port } = yield* Support.silent
      const running = yield* Effect.fork(
        examineWith({ ...nowhere, CREDIT_DATA_AUTH_V2_URL: `https://127.0.0.1:${port}` })
      )
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
  const withDate = (millis: number) =>
    Effect.gen(function*() {
      const port = yield* Support.responding({ date: new Date(Date.now() + millis).toUTCString() })
      return yield* examineWith({ ...nowhere, CREDIT_DATA_AUTH_V2_URL: `http://127.0.0.1:${port}` })
    })

  for (const [millis, detail] of [[3_600_000, "60 minutes behind"], [-3_600_000, "60 minutes ahead of"]] as const) {
    it.scopedLive(`a clock that is ${detail} the server fails`, () =>
      Effect.gen(function*() {
        const failed = failureOf(yield* withDate(millis))
        assert.deepInclude(failed, { name: "clock", detail: `${detail} the authorization server` })
        assert.match(
          failed.advice,
          /^Synchronize the clock of this machine \(NTP\): it shows \S+Z, and .* shows \S+Z\.$/
        )
      }))
  }

  it.scopedLive("a clock that is a minute off is a warning", () =>
    Effect.gen(function*() {
      assert.deepInclude(lineOf(yield* withDate(-60_000), "warning"), { name: "clock" })
    }))

  it.scopedLive("a server without a date is a warning", () =>
    Effect.gen(function*() {
      const port = yield* Support.responding({})
      const lines = yield* examineWith({ ...nowhere, CREDIT_DATA_AUTH_V2_URL: `http://127.0.0.1:${port}` })
      assert.include(lineOf(lines, "warning").detail, "the authorization server sent no date")
    }))

  it("a slow response and the missing milliseconds of a date do not count as a difference", () => {
    assert.strictEqual(aheadBy({ date: 5_000, sentAt: 5_900, receivedAt: 6_000 }), 0)
    assert.strictEqual(aheadBy({ date: 5_000, sentAt: 1_000, receivedAt: 9_000 }), 0)
    assert.strictEqual(aheadBy({ date: 5_000, sentAt: 36_500, receivedAt: 40_000 }), 30_500)
    assert.strictEqual(aheadBy({ date: 50_000, sentAt: 10_000, receivedAt: 12_000 }), -38_000)
  })
})

describe("the token", () => {
  it.scopedLive("a wrong secret is found, without the secret", () =>
    Effect.gen(function*() {
      const { variables } = yield* simulated
      const failed = failureOf(yield* examineWith({ ...variables, CREDIT_DATA_CLIENT_SECRET: "canary-value" }))
      assert.deepInclude(failed, { name: "token", detail: "the client was refused: 401 invalid_client" })
      assert.include(failed.advice, "See CREDIT_DATA_CLIENT_ID and CREDIT_DATA_CLIENT_SECRET.")
    }))

  it.scopedLive("a wrong audience is found, and its variable is named", () =>
    Effect.gen(function*() {
      const { variables } = yield* simulated
      const failed = failureOf(yield* examineWith({ ...variables, CREDIT_DATA_AUDIENCE: "canary-value" }))
      assert.deepInclude(failed, {
        name: "token",
        detail: "error response: 400 invalid_target; the audience may be wrong"
      })
      assert.include(failed.advice, "See CREDIT_DATA_AUDIENCE.")
    }))

  for (
    const [status, error, detail, variable] of [
      [403, "forbidden", "error response: 403 forbidden; the audience may be wrong", "CREDIT_DATA_AUDIENCE"],
      [400, "invalid_scope", "error response: 400 invalid_scope", "CREDIT_DATA_SCOPES"],
      [404, "not_found", "no token endpoint there: 404 not_found", "CREDIT_DATA_AUTH_V2_URL"],
      [503, "temporarily_unavailable", "temporary failure: 503 temporarily_unavailable", undefined],
      [501, "unsupported", "error response: 501 unsupported", undefined]
    ] as const
  ) {
    it.scopedLive(`the error ${status} ${error} names ${variable ?? "no variable"}`, () =>
      Effect.gen(function*() {
        const { simulator, variables } = yield* simulated
        // the first request is the HEAD of the clock
        yield* simulator.failTokenRequests(Fault.oauthError(status, error), { times: 2 })
        const failed = failureOf(yield* examineWith(variables))
        assert.deepInclude(failed, { name: "token", detail })
        const named = ["CREDIT_DATA_AUDIENCE", "CREDIT_DATA_SCOPES", "CREDIT_DATA_AUTH_V2_URL"]
          .filter((name) => failed.advice.includes(name))
        assert.deepStrictEqual(named, variable === undefined ? [] : [variable])
      }))
  }

  for (const [seconds, shown] of [["20", "20 seconds"], ["120", "at least 60 seconds"]] as const) {
    it.scopedLive(`a server that asks clients to wait for ${seconds} s is shown with ${shown}`, () =>
      Effect.gen(function*() {
        const { simulator, variables } = yield* simulated
        const busy = Fault.Response({ status: 429, headers: { "retry-after": seconds } })
        yield* simulator.failTokenRequests(busy, { times: 2 })
        assert.deepInclude(failureOf(yield* examineWith(variables)), {
          name: "token",
          detail: `temporary failure: 429, and it asks clients to wait ${shown} (Retry-After)`
        })
      }))
  }

  it.scopedLive("a response that is not a token is found", () =>
    Effect.gen(function*() {
      const { simulator, variables } = yield* simulated
      yield* simulator.failTokenRequests(Fault.Response({ status: 200, body: "canary-value" }), { times: 2 })
      assert.deepInclude(failureOf(yield* examineWith(variables)), { detail: "the response is not a token: 200" })
    }))

  for (
    const [what, status, type, body, detail, variable] of [
      [
        "page of a firewall",
        403,
        "text/html",
        "<html><title>Request blocked</title></html>",
        "not an OAuth error: 403",
        undefined
      ],
      [
        "refusal of the client with status 200",
        200,
        "application/json",
        "{\"error\":\"invalid_client\"}",
        "the client was refused: 200 invalid_client",
        "CREDIT_DATA_CLIENT_ID and CREDIT_DATA_CLIENT_SECRET"
      ]
    ] as const
  ) {
    it.scopedLive(`a ${what} is not taken for a wrong audience`, () =>
      Effect.gen(function*() {
        const { simulator, variables } = yield* simulated
        const response = Fault.Response({ status, headers: { "content-type": type }, body })
        yield* simulator.failTokenRequests(response, { times: 2 })
        const failed = failureOf(yield* examineWith(variables))
        assert.deepInclude(failed, { name: "token", detail })
        assert.notInclude(failed.detail + failed.advice, "audience")
        assert.strictEqual(/See (.*)\.$/.exec(failed.advice)?.[1], variable)
      }))
  }

  it.scopedLive("a compressed response that was not requested is named", () =>
    Effect.gen(function*() {
      const port = yield* Support.compressing
      const failed = failureOf(yield* examineWith({ ...nowhere, CREDIT_DATA_AUTH_V2_URL: `http://127.0.0.1:${port}` }))
      assert.deepInclude(failed, {
        name: "token",
        detail: "the response is compressed (gzip), which was not requested"
      })
    }))

  it.scopedLive("one token request is sent, and its token is not shown", () =>
    Effect.gen(function*() {
      const { simulator, variables } = yield* simulated
      const lines = yield* examineWith(variables, { probes: [{ method: "GET", path: "/data-access/1" }] })
      const requests = (yield* simulator.received).filter(({ method }) => method === "POST")
      assert.strictEqual(requests.length, 1)
      const tokens = yield* Support.tokensOf(simulator)
      assert.strictEqual(tokens.length, 1)
      for (const token of tokens) assert.notInclude(JSON.stringify(lines), token)
    }))

  it.scopedLive("scopes that were not granted are found", () =>
    Effect.gen(function*() {
      const { simulator, variables } = yield* simulated
      yield* simulator.grantScopes(["data-access:all"])
      const failed = failureOf(yield* examineWith(variables))
      assert.deepInclude(failed, {
        name: "scopes",
        detail: "missing: furnishment:all, serviceplus:all; granted: data-access:all"
      })
      assert.include(failed.advice, "Ask the operator to grant furnishment:all, serviceplus:all to this client")
    }))

  it.scopedLive("the scopes of V1 are listed, and none is missing", () =>
    Effect.gen(function*() {
      const { variables } = yield* simulated
      const lines = yield* examineWith(variables, {
        version: "v1",
        probes: [{ method: "GET", path: "/data-access/1" }]
      })
      assert.deepStrictEqual(resultsOf(lines).slice(4), names.slice(4).map((name) => `${name} ok`))
      assert.include(lines[6]?.detail, "granted: read:consumers, write:consumers")
    }))
})

describe("the API", () => {
  const probes = [{ method: "GET" as const, path: "/data-access/1" }]

  for (
    const [status, result, detail, advice] of [
      [401, "failed", "GET /data-access/1 returned 401: the API rejects the token", "belong to the same environment"],
      [
        403,
        "failed",
        "GET /data-access/1 returned 403: the token is not authorized for this path",
        "Check that CREDIT_DATA_SCOPES"
      ],
      [404, "warning", "GET /data-access/1 returned 404; the token was not rejected", "Try a path that exists"],
      [503, "warning", "GET /data-access/1 returned 503; the token was not rejected", "Try again in a few minutes"],
      [302, "warning", "GET /data-access/1 returned 302; the token was not rejected", "Correct CREDIT_DATA_BASE_URL"]
    ] as const
  ) {
    it.scopedLive(`an API that returns ${status} is found`, () =>
      Effect.gen(function*() {
        const { simulator, variables } = yield* simulated
        yield* simulator.failCalls(Fault.Response({ status, headers: { location: "https://other.example" } }), {
          times: 2
        })
        const lines = yield* examineWith(variables, { probes })
        assert.deepInclude(lines[7], { name: "API", result, detail })
        for (const token of yield* Support.tokensOf(simulator)) assert.notInclude(JSON.stringify(lines), token)
        assert.include(lines[7]?.advice, advice)
      }))
  }

  for (const status of [200, 403, 503]) {
    it.scopedLive(`an HTML page with the status ${status} is not taken for a response of the API`, () =>
      Effect.gen(function*() {
        const { simulator, variables } = yield* simulated
        const page = { status, headers: { "content-type": "text/html; charset=utf-8" }, body: "<html>Log in</html>" }
        yield* simulator.failCalls(Fault.Response(page), { times: 2 })
        const failed = failureOf(yield* examineWith(variables, { probes }))
        assert.deepInclude(failed, { name: "API", detail: `GET /data-access/1 returned ${status} with an HTML page` })
        assert.include(failed.advice, "login page")
        assert.notInclude(failed.advice, "CREDIT_DATA_SCOPES")
      }))
  }

  it.scopedLive("a compressed body that was not requested is a warning", () =>
    Effect.gen(function*() {
      const { variables } = yield* simulated
      const port = yield* Support.compressing
      const lines = yield* examineWith({ ...variables, CREDIT_DATA_BASE_URL: `http://127.0.0.1:${port}` }, { probes })
      assert.deepInclude(lines[7], {
        result: "warning",
        detail: "GET /data-access/1 returned 200; the body is compressed (gzip), which was not requested"
      })
    }))

  it.scopedLive("the API is connected to without a path, and the detail names the option", () =>
    Effect.gen(function*() {
      const { simulator, variables } = yield* simulated
      const lines = yield* examineWith(variables)
      assert.deepInclude(lines[7], { name: "API", result: "ok" })
      assert.include(lines[7]?.detail, "the token was not tried (--probe PATH)")
      assert.isEmpty((yield* simulator.received).filter(({ server }) => server === "Api"))
    }))

  it.scopedLive("an API on which nothing listens is found, with its variable", () =>
    Effect.gen(function*() {
      const { variables } = yield* simulated
      const failed = failureOf(yield* examineWith({ ...variables, CREDIT_DATA_BASE_URL: "http://127.0.0.1:1" }))
      assert.deepInclude(failed, { name: "API", detail: "127.0.0.1:1 refused the connection" })
      assert.include(failed.advice, "CREDIT_DATA_BASE_URL")
    }))

  it.scopedLive("no token is sent to another host", () =>
    Effect.gen(function*() {
      const { variables } = yield* simulated
      const failed = failureOf(
        yield* examineWith(variables, { probes: [{ method: "GET", path: "https://other.example/1" }] })
      )
      assert.deepInclude(failed, { name: "API", detail: "the path is not below the base URL" })
    }))

  it.scopedLive("a connection that ends before the response is found", () =>
    Effect.gen(function*() {
      const { simulator, variables } = yield* simulated
      yield* simulator.failCalls(Fault.Reset(), { times: 9 })
      const { advice, detail } = failureOf(yield* examineWith(variables, { probes }))
      assert.strictEqual(detail, "no response (Reset)")
      assert.include(advice, "No response from the API: the connection was closed before a response arrived.")
    }))
})

describe("an examination", () => {
  it.scopedLive("ends a step at the time limit that was given", () =>
    Effect.gen(function*() {
      const { port } = yield* Support.silent
      const variables = { ...nowhere, CREDIT_DATA_AUTH_V2_URL: `https://127.0.0.1:${port}` }
      const failed = failureOf(yield* examineWith(variables, { timeLimit: 200 }))
      assert.deepInclude(failed, { name: "TLS", detail: "not done after 0.2 seconds" })
    }))

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
      const client = HttpClient.make(() => Effect.never)
      const port = yield* Support.responding({})
      const reported: Array<string> = []
      const fourth = yield* Deferred.make<void>()
      const report = ({ name }: Step) => {
        reported.push(name)
        return name === "TLS" ? Deferred.succeed(fourth, undefined) : Effect.void
      }
      yield* examine({ version: "v2", probes: [], report }).pipe(
        Effect.race(Deferred.await(fourth)),
        Effect.provideService(HttpClient.HttpClient, client),
        Effect.withConfigProvider(ConfigProvider.fromMap(
          new Map(Object.entries({ ...nowhere, CREDIT_DATA_AUTH_V2_URL: `http://127.0.0.1:${port}` }))
        ))
      )
      assert.deepStrictEqual(reported, names.slice(0, 4))
    }))

  it.scopedLive("reports a defect of the client as a step, without its message", () =>
    Effect.gen(function*() {
      const port = yield* Support.responding({})
      const lines = yield* examined({ version: "v2", probes: [] }).pipe(
        Effect.provideService(HttpClient.HttpClient, HttpClient.make(() => Effect.die(new TypeError(Support.secret)))),
        Effect.withConfigProvider(ConfigProvider.fromMap(
          new Map(Object.entries({ ...nowhere, CREDIT_DATA_AUTH_V2_URL: `http://127.0.0.1:${port}` }))
        ))
      )
      const failed = failureOf(Support.checkCanaries(lines))
      assert.deepInclude(failed, { name: "clock", detail: "unexpected error: TypeError" })
    }))

  it.scopedLive("uses any client", () =>
    Effect.gen(function*() {
      const { variables } = yield* simulated
      const lines = yield* examined({ version: "v2", probes: [{ method: "GET", path: "/data-access/1" }] }).pipe(
        Effect.provide(FetchHttpClient.layer),
        Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(variables))))
      )
      assert.isEmpty(Support.checkCanaries(lines).filter(({ result }) => result === "failed"))
    }))
})
