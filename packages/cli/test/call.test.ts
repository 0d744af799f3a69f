import { Simulator } from "@credit-data/simulator"
import { listenForSockets } from "@credit-data/test-support/listen"
import { assert, describe } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { calls, test, together, tokenRequests } from "./support/command.ts"
import { run, runAll, runProcess, temporaryFolder } from "./support/program.ts"

describe.concurrent("credit-data call", () => {
  test(
    "prints the body of the response",
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* run(["call", "/data-access/consumers/42"])
      assert.deepStrictEqual([code, stderr], [0, ""])
      assert.strictEqual(JSON.parse(stdout).path, "/data-access/consumers/42")
    })
  )

  test(
    "sends a method, headers and a body",
    Effect.gen(function*() {
      yield* together(
        run(["call", "-X", "PUT", "-H", "X-Trace: a b", "-d", "{\"a\":1}", "/furnishment/submissions/1"]),
        runProcess(["call", "-d", "@-", "-H", "Content-Type: text/csv", "/furnishment/submissions/2"], {
          input: "a;b"
        }),
        runProcess(["call", "-d", "@-", "/furnishment/submissions/3"]),
        run(["call", "/furnishment/submissions/4", "--data=--x", "--header=X-Trace: a", "-H", "x-trace: b"]),
        run(["call", "-H", "Cookie: a=1", "-H", "Cookie: b=2", "/furnishment/submissions/5"])
      )
      const sent = (yield* calls).toSorted((a, b) => a.url.localeCompare(b.url))
      const shown = sent.map(({ body, headers, method, url }) => [
        method,
        url.at(-1),
        new TextDecoder().decode(Redacted.value(body)),
        headers["content-type"],
        headers["x-trace"],
        headers["cookie"]
      ])
      const json = "application/json"
      assert.deepStrictEqual(shown, [
        ["PUT", "1", "{\"a\":1}", json, "a b", undefined],
        ["POST", "2", "a;b", "text/csv", undefined, undefined],
        ["POST", "3", "", json, undefined, undefined],
        ["POST", "4", "--x", json, "a, b", undefined],
        ["GET", "5", "", undefined, undefined, "a=1; b=2"]
      ])
    })
  )

  test(
    "exits with 0 on any response, and with 22 on an error status with --fail",
    Effect.gen(function*() {
      const [missing, failed, good] = yield* together(
        run(["call", "/nothing"]),
        run(["call", "--fail", "/nothing"]),
        run(["call", "--fail", "/data-access/a"])
      )
      assert.deepStrictEqual([missing.code, missing.stderr], [0, "status 404\n"])
      assert.deepStrictEqual([failed.code, good.code], [22, 0])
    })
  )

  test(
    "replaces a cached token that the API rejects",
    Effect.gen(function*() {
      const variables = { XDG_CACHE_HOME: yield* temporaryFolder }
      yield* run(["call", "--cache", "/data-access/a"], variables)
      yield* Effect.flatMap(Simulator.Simulator, ({ revokeTokens }) => revokeTokens)
      assert.strictEqual((yield* run(["call", "--cache", "--fail", "/data-access/a"], variables)).code, 0)
      assert.strictEqual(yield* tokenRequests, 2)
    }).pipe(Effect.scoped)
  )

  test(
    "never reaches a loopback address through a proxy, whatever the variables contain",
    Effect.gen(function*() {
      const received: Array<string> = []
      const port = yield* listenForSockets((socket) =>
        socket.on("data", (data) => {
          received.push(data.toString("latin1"))
          socket.end("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
        })
      )
      const url = `http://127.0.0.1:${port}`
      const variables = { HTTP_PROXY: url, HTTPS_PROXY: url, http_proxy: url, https_proxy: url }
      const { code, stderr } = yield* run(["call", "--fail", "/data-access/a"], variables)
      assert.deepStrictEqual([code, stderr], [0, ""])
      assert.deepStrictEqual(received, [])
    }).pipe(Effect.scoped)
  )

  test(
    "refuses another host, a wrong header and a wrong method before anything is sent",
    Effect.gen(function*() {
      const refused = [
        ["https://elsewhere.example/"],
        ["-H", "nonsense", "/a"],
        ["-H", "Bad Name: x", "/a"],
        ["-H", "Authorization: Bearer x", "/a"],
        ["-H", "Host: elsewhere.example", "/a"],
        ["-X", "BREW", "/a"],
        ["-d", "@/nowhere", "/a"]
      ]
      for (const { code, stderr, stdout } of yield* runAll(refused.map((args) => ["call", ...args]))) {
        assert.deepStrictEqual([code, stdout], [2, ""], stderr)
        assert.isNotEmpty(stderr)
      }
      assert.deepStrictEqual(yield* calls, [])
    })
  )
})
