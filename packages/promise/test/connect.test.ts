import { CallError, ConfigError, connect, type Credentials, InvalidClient, isTokenError } from "@credit-data/promise"
import { Fault, Simulator } from "@credit-data/simulator"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Schedule } from "effect"
import { AsyncLocalStorage } from "node:async_hooks"
import { connected, recording, rejection } from "./support/connection.ts"

const rejected = Fault.oauthError(401, "invalid_client")

const messageOf = (error: unknown) => {
  assert.instanceOf(error, Error)
  return error.message
}

describe("the calls of a connection", () => {
  it.live("go to the three groups with one token", () =>
    connected(async ({ api, run, simulator }) => {
      const paths = ["/data-access/consumers/42", "/furnishment/submissions/42", "/enablement-services/reports/42"]
      const [data, furnishment, services] = await Promise.all([
        api.dataAccess(paths[0] ?? ""),
        api.furnishment(paths[1] ?? "", { method: "POST", body: "a body" }),
        api.enablementServices(paths[2] ?? "")
      ])
      assert.deepStrictEqual([data.status, furnishment.status, services.status], [200, 200, 200])
      const received = (await run(simulator.received)).filter(({ server }) => server === "Api")
      assert.deepStrictEqual(
        received.map(({ method, url }) => `${method} ${url}`).toSorted(),
        [`GET ${paths[0]}`, `GET ${paths[2]}`, `POST ${paths[1]}`].toSorted()
      )
      assert.strictEqual(await run(simulator.tokenRequests), 1)
    }))

  it.live("reuse their connections", () =>
    connected(async ({ api, run, simulator }) => {
      for (let call = 0; call < 3; call++) await (await api.dataAccess("/data-access/consumers/42")).text()
      assert.strictEqual(await run(simulator.openConnections), 2)
    }))

  it.live("use the fetch of the options", () => {
    const urls: Array<string> = []
    return connected(async ({ api, simulator }) => {
      await api.dataAccess("/data-access/consumers/42")
      assert.deepStrictEqual(urls, [
        `${simulator.environment.authV2Url}/oauth2/token`,
        `${simulator.environment.baseUrl}/data-access/consumers/42`
      ])
    }, {
      fetch: (input, init) => {
        urls.push(String(input))
        return fetch(input, init)
      }
    })
  })

  it.live("are sent in the AsyncLocalStorage context of their caller, after a wait for a token too", () => {
    const tenant = new AsyncLocalStorage<string>()
    const seen: Array<string> = []
    return connected(async ({ api, run, simulator }) => {
      const call = (name: string) => tenant.run(name, () => api.dataAccess(`/data-access/consumers/${name}`))
      const all = ["a", "b", "c", "d"]
      await Promise.all(all.map(call))
      await run(simulator.revokeTokens)
      await Promise.all(all.map(call))
      assert.isAbove(seen.length, all.length * 2)
      assert.deepStrictEqual(seen.filter((each) => !/consumers\/(.) \1$/.test(each)), [])
    }, {
      fetch: (input, init) => {
        if (!String(input).endsWith("/oauth2/token")) seen.push(`${String(input)} ${tenant.getStore()}`)
        return fetch(input, init)
      }
    })
  })

  it.live("reject with errors that other libraries can add fields to, as axios does", () =>
    connected(async ({ api, run, simulator }) => {
      await run(simulator.failTokenRequests(rejected))
      const error = await rejection(api.dataAccess("/data-access/consumers/42"))
      assert.instanceOf(error, InvalidClient)
      for (const field of ["config", "headers", "request", "response", "status"]) {
        assert.isTrue(Reflect.set(error, field, {}), field)
      }
    }))

  for (const [name, options] of Object.entries({ "node:http": {}, "a given fetch": { fetch: globalThis.fetch } })) {
    it.live(`may share a signal without a warning, over ${name}`, () =>
      connected(async ({ api, run, simulator }) => {
        const warnings: Array<Error> = []
        const warn = (warning: Error) => void warnings.push(warning)
        process.on("warning", warn)
        const { signal } = new AbortController()
        const url = "/data-access/consumers/{id}"
        const request = new Request(`${simulator.environment.baseUrl}/data-access/consumers/42`)
        const all = Array.from({ length: 20 }, (_, id) => [
          api.dataAccess(request),
          api.dataAccess("/data-access/consumers/42", { signal }),
          api.call("dataAccess", "GET", url, { id }, { signal })
        ])
        await Promise.all(all.flat())
        // a warning is a turn later
        await run(Effect.sleep(1))
        process.off("warning", warn)
        assert.deepStrictEqual(warnings, [])
        assert.strictEqual(await run(simulator.tokenRequests), 1)
      }, options))
  }

  it.live("encode the values of a path", () =>
    connected(async ({ api, run, simulator }) => {
      const response = await api.call(
        "furnishment",
        "PUT",
        "/furnishment/{kind}/{id}",
        { kind: "loans", id: "a/b?c" },
        {
          body: "a body",
          headers: { "content-type": "text/plain" }
        }
      )
      assert.strictEqual(response.status, 200)
      const call = (await run(simulator.received)).find(({ server }) => server === "Api")
      assert.strictEqual(`${call?.method} ${call?.url}`, "PUT /furnishment/loans/a%2Fb%3Fc")
      assert.strictEqual(call?.headers["content-type"], "text/plain")
    }))

  it.live("reject with the failure itself when there is no token, and so does `token`", () =>
    connected(async ({ api, run, simulator }) => {
      await run(simulator.failTokenRequests(rejected, { times: Infinity }))
      for (const call of [api.dataAccess("/data-access/consumers/42"), api.token()]) {
        const error = await rejection(call)
        assert.instanceOf(error, InvalidClient)
        assert.isTrue(isTokenError(error))
        assert.isFalse(error.retryable)
      }
    }))

  it.live("of a group whose scope is not requested reject and name the scope, and the others go on", () =>
    connected(async ({ api }) => {
      assert.strictEqual((await api.furnishment("/furnishment/submissions/42")).status, 200)
      for (
        const call of [
          api.dataAccess("/data-access/consumers/42"),
          api.call("dataAccess", "GET", "/data-access/consumers/{id}", { id: 42 })
        ]
      ) {
        const error = await rejection(call)
        assert.instanceOf(error, ConfigError)
        assert.include(error.message, "data-access:all")
      }
    }, { variables: { CREDIT_DATA_SCOPES: "furnishment:all" } }))
})

describe("the token of a connection", () => {
  it.live("is its text, for a client of another kind", () =>
    connected(async ({ api, simulator }) => {
      const response = await fetch(`${simulator.environment.baseUrl}/data-access/consumers/42`, {
        headers: { authorization: `Bearer ${await api.token()}` }
      })
      assert.strictEqual(response.status, 200)
    }))
})

describe("a connection is ready", () => {
  it.live("if it gets a token, which it requests itself", () =>
    connected(async ({ api, run, simulator }) => {
      assert.isTrue(await api.ready())
      assert.strictEqual(await run(simulator.tokenRequests), 1)
    }))

  it.live("only if its client is accepted, and not after it was closed", () =>
    connected(async ({ api, run, simulator }) => {
      await run(simulator.failTokenRequests(rejected))
      assert.isFalse(await api.ready())
      await api.close()
      assert.isFalse(await api.ready())
    }))
})

describe("the status of a connection", () => {
  it.live("is plain data, before and after the first token", () =>
    connected(async ({ api, simulator }) => {
      const before = await api.status()
      assert.deepStrictEqual([before.usable, before.phase, before.expiresAt], [true, "None", undefined])
      await api.token()
      const now = await api.status()
      assert.deepInclude(now, {
        environment: "simulator",
        tokenEndpoint: `${simulator.environment.authV2Url}/oauth2/token`,
        usable: true,
        phase: "Valid",
        version: "V2",
        clientId: "simulated-client",
        lastFailure: undefined,
        failingSince: undefined,
        tokensServed: 1
      })
      const [requested = 0, next = 0, expires = 0] = [now.requestedAt, now.nextRequestAt, now.expiresAt].map((time) =>
        time?.getTime()
      )
      assert.approximately(requested, Date.now(), 60_000)
      assert.approximately((next - requested) / (expires - requested), 0.825, 0.08)
      assert.notProperty(now, "store")
    }))

  it.live("has the failure of the last token request, and no secret", () =>
    connected(async ({ api, run, simulator }) => {
      await run(simulator.failTokenRequests(rejected))
      await rejection(api.token())
      const status = await api.status()
      assert.isFalse(status.usable)
      assert.instanceOf(status.lastFailure, InvalidClient)
      assert.instanceOf(status.failingSince, Date)
      assert.strictEqual(status.consecutiveFailures, 1)
      const { clientSecret } = await run(simulator.credentials)
      assert.notInclude(JSON.stringify(status), Redacted.value(clientSecret))
    }))
})

describe("the configuration of a connection", () => {
  it.effect("is refused with a line for each missing variable", () =>
    Effect.promise(async () => {
      const error = await rejection(connect({ variables: { CREDIT_DATA_ENVIRONMENT: undefined } }))
      assert.instanceOf(error, ConfigError)
      assert.strictEqual(error.name, "ConfigError")
      for (
        const name of ["ENVIRONMENT", "AUDIENCE", "BASE_URL", "AUTH_V2_URL", "CLIENT_ID", "CLIENT_SECRET", "SCOPES"]
      ) {
        assert.include(error.message, `\n- CREDIT_DATA_${name} is missing: `)
      }
    }))

  it.live("selects V1 by its option, or by its variable", () =>
    Effect.gen(function*() {
      yield* connected(async ({ api }) => assert.strictEqual((await api.status()).version, "V1"), { auth: "v1" })
      yield* connected(async ({ api }) => assert.strictEqual((await api.status()).version, "V1"), {
        variables: { CREDIT_DATA_AUTH: "v1" }
      })
      yield* connected(async ({ api }) => assert.strictEqual((await api.status()).version, "V2"), {
        auth: "v2",
        variables: { CREDIT_DATA_AUTH: "v1" }
      })
    }))

  it.effect("is refused for an unknown version, which is not shown", () =>
    Effect.promise(async () => {
      const message = messageOf(await rejection(connect({ variables: { CREDIT_DATA_AUTH: "canary" } })))
      assert.include(message, "CREDIT_DATA_AUTH: Expected v1 or v2")
      assert.notInclude(message, "canary")
    }))
})

describe("credentials from a function", () => {
  const withoutCredentials = { CREDIT_DATA_CLIENT_ID: undefined, CREDIT_DATA_CLIENT_SECRET: undefined }

  /** A secret manager that returns these in turn, and then the last of them. */
  const manager = (...secrets: ReadonlyArray<string>) => {
    let reads = 0
    return {
      reads: () => reads,
      credentials: async () => ({
        clientId: "simulated-client",
        clientSecret: secrets[reads++] ?? secrets.at(-1) ?? ""
      })
    }
  }

  it.live("are read instead of the variables, and again after the client was refused", () => {
    const { credentials, reads } = manager("an old secret", "simulated-secret-0123456789abcdefghijklm")
    return connected(async ({ api, run, simulator }) => {
      assert.strictEqual(reads(), 1)
      assert.strictEqual((await api.dataAccess("/data-access/consumers/42")).status, 200)
      assert.strictEqual(reads(), 2)
      assert.strictEqual(await run(simulator.tokenRequests), 2)
    }, { credentials, variables: withoutCredentials })
  })

  it.live("reject the connection with the reason of the function", () =>
    Effect.gen(function*() {
      const reason = new Error("the secret manager is down")
      const variables = { ...yield* Simulator.variables, ...withoutCredentials }
      yield* Effect.promise(async () => {
        assert.strictEqual(await rejection(connect({ variables, credentials: () => Promise.reject(reason) })), reason)
      })
    }).pipe(Effect.provide(Simulator.layer())))

  it.live("remain in use, and a warning is logged, when they cannot be read again", () => {
    const { lines, log } = recording()
    let reads = 0
    const credentials = () =>
      ++reads === 1
        ? Promise.resolve({ clientId: "simulated-client", clientSecret: "a wrong secret" })
        : Promise.reject(new RangeError("canary"))
    return connected(async ({ api }) => {
      assert.instanceOf(await rejection(api.token()), InvalidClient)
      assert.strictEqual(lines.filter((line) => /^warn .*RangeError/.test(line)).length, 1)
      assert.notInclude(lines.join("\n"), "canary")
    }, { log, credentials, variables: withoutCredentials })
  })

  it.live("of another shape are named", () =>
    Effect.gen(function*() {
      const variables = { ...yield* Simulator.variables, ...withoutCredentials }
      yield* Effect.promise(async () => {
        // as a program without types may pass
        const credentials = (): Promise<Credentials> => Promise.resolve(JSON.parse("null"))
        const error = await rejection(connect({ variables, credentials }))
        assert.instanceOf(error, ConfigError)
        assert.include(error.message, "credentials.clientId")
        assert.include(error.message, "credentials.clientSecret")
      })
    }).pipe(Effect.provide(Simulator.layer())))
})

describe("the log of a connection", () => {
  it.live("gets warnings and errors, each with its level and without secrets", () => {
    const { lines, log } = recording()
    return connected(async ({ api, run, simulator }) => {
      await run(simulator.failTokenRequests(rejected, { times: 2 }))
      await rejection(api.token())
      const announced = lines.filter((line) => !line.startsWith("debug "))
      assert.deepStrictEqual(announced.map((line) => /^\w+/.exec(line)?.[0]), ["warn", "error"])
      const { clientSecret } = await run(simulator.credentials)
      assert.notInclude(lines.join("\n"), Redacted.value(clientSecret))
    }, { auth: "v1", log })
  })
})

describe("a log that throws", () => {
  const throwing = () => {
    throw new Error("the log is full")
  }
  const log = { debug: throwing, info: throwing, warn: throwing, error: throwing }

  it.effect("does not keep `connect` from rejecting", () =>
    Effect.promise(async () => {
      assert.instanceOf(await rejection(connect({ log, variables: {} })), ConfigError)
    }))

  it.live("keeps no call from its response or its rejection", () =>
    connected(async ({ api }) => {
      assert.strictEqual((await api.dataAccess("/data-access/consumers/42")).status, 200)
      const reason = new Error("no longer needed")
      assert.strictEqual(await rejection(api.dataAccess("/a", { signal: AbortSignal.abort(reason) })), reason)
    }, { log }))
})

describe("a call that rejects", () => {
  it.live("is no news for the log, because its caller knows", () => {
    const { lines, log } = recording()
    return connected(async ({ api }) => {
      await api.token()
      lines.length = 0
      await rejection(api.dataAccess("/a", { signal: AbortSignal.abort(new Error("no longer needed")) }))
      await rejection(api.dataAccess("https://elsewhere.example/a"))
      assert.deepStrictEqual(lines, [])
    }, { log })
  })
})

describe("a successful token request", () => {
  it.live("is logged as a detail only", () => {
    const { lines, log } = recording()
    return connected(async ({ api }) => {
      await api.token()
      assert.isAtLeast(lines.length, 1)
      for (const line of lines) assert.match(line, /^debug /)
    }, { log })
  })
})

describe("closing a connection", () => {
  const isClosed = (error: unknown) => error instanceof CallError && error.reason === "Closed" && !error.retryable

  it.live("ends the call in progress and all later ones, and the connections of the transport", () =>
    connected(async ({ api, run, simulator }) => {
      await (await api.furnishment("/furnishment/submissions/42")).text()
      await run(simulator.failCalls(Fault.Silence()))
      const call = rejection(api.dataAccess("/data-access/consumers/42"))
      await run(simulator.awaitReceived("Api", 2))
      await Promise.all([api.close(), api.close()])
      assert.isTrue(isClosed(await call))
      assert.isTrue(isClosed(await rejection(api.dataAccess("/data-access/consumers/42"))))
      assert.isTrue(isClosed(await rejection(api.call("dataAccess", "GET", "/data-access/{id}", { id: 1 }))))
      assert.isTrue(isClosed(await rejection(api.token())))
      await run(
        Effect.repeat(simulator.openConnections, {
          until: (open) => open === 0,
          schedule: Schedule.spaced("10 millis")
        }).pipe(
          // the server closes an unused connection after 5 s
          Effect.timeout("4 seconds"),
          Effect.orDie
        )
      )
    }))

  it.live("is what `await using` does", () =>
    connected(async ({ api }) => {
      await api[Symbol.asyncDispose]()
      assert.isTrue(isClosed(await rejection(api.dataAccess("/data-access/consumers/42"))))
    }))
})
