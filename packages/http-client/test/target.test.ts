import { DataAccess } from "@credit-data/http-client"
import { isRequestError, kindOf } from "@credit-data/test-support/httpErrors"
import { runs } from "@credit-data/test-support/searches"
import { assert, describe, it } from "@effect/vitest"
import { HttpClient, HttpClientRequest } from "@effect/platform"
import { Effect, FastCheck, Option } from "effect"
import { callOver, get } from "./support/calls.ts"
import { over, rejecting, supply, transport } from "./support/fakes.ts"

/** The URL that a request was sent to, or the kind of the error if nothing was sent. */
const go = (url: string, baseUrl = "https://api.example/v1") =>
  Effect.gen(function*() {
    const { client, sent } = yield* transport(rejecting())
    const tokens = yield* supply({ baseUrl })
    const failure = yield* Effect.flatMap(DataAccess.DataAccess, (dataAccess) => dataAccess.get(url)).pipe(
      Effect.provide(over(DataAccess.layer(), tokens, client)),
      Effect.as("sent"),
      Effect.catchIf(isRequestError, (error) => Effect.succeed(kindOf(error)))
    )
    const requests = yield* sent
    assert.strictEqual(requests.length, failure === "sent" ? 1 : 0)
    return failure === "sent" ? requests[0]?.url : failure
  })

describe("a URL below the base URL", () => {
  const rows: ReadonlyArray<readonly [url: string, sentTo: string, baseUrl?: string]> = [
    ["/consumers/42", "https://api.example/v1/consumers/42"],
    ["consumers/42", "https://api.example/v1/consumers/42"],
    ["/consumers?page=2#top", "https://api.example/v1/consumers?page=2"],
    ["#top", "https://api.example/v1"],
    ["/consumers?path=/../b#/../c", "https://api.example/v1/consumers?path=/../b"],
    ["", "https://api.example/v1"],
    ["?page=2", "https://api.example/v1?page=2"],
    ["/", "https://api.example/v1/"],
    ["/a/./b", "https://api.example/v1/a/b"],
    ["/a%2Fb", "https://api.example/v1/a%2Fb"],
    ["/.well-known", "https://api.example/v1/.well-known"],
    ["/@someone", "https://api.example/v1/@someone"],
    ["/..x/y", "https://api.example/v1/..x/y"],
    ["/x../.../y", "https://api.example/v1/x../.../y"],
    ["/%252e%252e/%252f", "https://api.example/v1/%252e%252e/%252f"],
    ["/a;v=1/b;..", "https://api.example/v1/a;v=1/b;.."],
    ["/consumers", "https://api.example/consumers", "https://api.example"],
    ["/consumers", "http://127.0.0.1:8080/consumers", "http://127.0.0.1:8080/"],
    ["https://api.example/v1/consumers?page=2", "https://api.example/v1/consumers?page=2"],
    ["https://api.example:443/v1/consumers", "https://api.example/v1/consumers"],
    ["https://API.example/v1/other", "https://api.example/v1/other"],
    ["//api.example/v1/consumers", "https://api.example/v1/consumers"]
  ]
  for (const [url, sentTo, baseUrl] of rows) {
    it.effect(`${JSON.stringify(url)} is sent to ${sentTo}`, () =>
      Effect.gen(function*() {
        assert.strictEqual(yield* go(url, baseUrl), sentTo)
      }))
  }

  it.effect("keeps the query parameters of the request", () =>
    Effect.gen(function*() {
      const { client, sent } = yield* transport(rejecting())
      const request = HttpClientRequest.get("/consumers", { urlParams: { page: 2 } })
      yield* Effect.flatMap(DataAccess.DataAccess, (dataAccess) => dataAccess.execute(request)).pipe(
        Effect.provide(over(DataAccess.layer(), yield* supply(), client))
      )
      assert.deepStrictEqual([...((yield* sent)[0]?.urlParams ?? [])], [["page", "2"]])
    }))
})

describe("a URL of another origin or outside the base path is refused before anything is sent", () => {
  for (
    const url of [
      "https://evil.example/consumers",
      "http://api.example/v1/consumers",
      "https://api.example:8443/v1/consumers",
      "https://api.example.evil.example/",
      "https://api.example@evil.example/",
      "https://user:pass@api.example/v1",
      "//evil.example/consumers",
      "///evil.example/consumers",
      "/\\evil.example/consumers",
      "\\\\evil.example\\consumers",
      "/\t/evil.example/consumers",
      "\n//evil.example/consumers",
      " https://evil.example/",
      "https:evil.example",
      "https:/evil.example",
      "HtTpS:\\\\evil.example",
      "h\nttps://evil.example",
      "javascript:alert(1)",
      "data:text/plain,hello",
      "file:///etc/passwd",
      "blob:https://api.example/123",
      "consumers:42",
      "https://",
      "..",
      "../consumers",
      "/../consumers",
      "/a/../../consumers",
      "/%2e%2e/consumers",
      "/.%2E/consumers",
      "/..\\consumers",
      "/..%2fconsumers",
      "/../tenant-b/x",
      "/..;/tenant-b/x",
      "/a/..;a=b/..;/x",
      "/..%3b/x",
      "/consumers/..;\u2028",
      "/consumers/..;\u2029/x",
      "https://api.example/other",
      "https://api.example/v1/../other",
      "https://api.example/v10/x",
      "/a/..%5c..%5cconsumers",
      "/a/../b",
      "/a/..%2Fb",
      "/a/..",
      "/a/.\t./b",
      "/a/..\u0001",
      "/%2f..%2f..%2fadmin",
      "//..%2fadmin",
      "/%2F/..;/..;",
      "/v1/%2f/..;/..;",
      "/%5C..%5C..%5Cadmin",
      "/a/%2e.%3Bx/b",
      "/a%2f%2E%2e",
      "https://api.example/v1/%2f..%2f..%2fadmin"
    ]
  ) {
    it.effect(JSON.stringify(url), () =>
      Effect.gen(function*() {
        assert.strictEqual(yield* go(url), "RequestError InvalidUrl")
      }))
  }

  const spellings = FastCheck.array(
    FastCheck.oneof(
      FastCheck.constantFrom(
        "/",
        "\\",
        "..",
        ".",
        "%2e",
        "%2f",
        "@",
        ":",
        "?",
        "#",
        "https:",
        "//",
        "\t",
        "\n",
        " ",
        "evil.example"
      ),
      FastCheck.string()
    ),
    { maxLength: 8 }
  )
  it("no spelling of a URL sends a request to another origin", () =>
    FastCheck.assert(
      FastCheck.asyncProperty(spellings, async (parts) => {
        const sentTo = await Effect.runPromise(go(parts.join("")))
        assert.isTrue(
          sentTo === "RequestError InvalidUrl" || /^https:\/\/api\.example(\/|$)/.test(sentTo ?? ""),
          sentTo
        )
      }),
      runs(500)
    ))
})

describe("a path below the base path", () => {
  /** The path that a server uses if it decodes the path before it resolves dots, and drops the parameters of segments. */
  const resolved = (url: string) => {
    const path: Array<string> = []
    for (const segment of decodeURIComponent(new URL(url).pathname).split(/[/\\]/)) {
      const name = segment.replace(/;.*$/s, "")
      if (name === "..") path.pop()
      else if (name !== "." && name !== "") path.push(name)
    }
    return `/${path.join("/")}`
  }
  const parts = [
    "/",
    "//",
    "\\",
    "..",
    ".",
    "%2e",
    "%2E",
    "%2f",
    "%2F",
    "%5c",
    ";",
    "%3b",
    "%3B",
    "a",
    "?",
    "#",
    "\t",
    "\u2028",
    " "
  ]
  it("remains below it on a server that decodes slashes, dots and backslashes", () =>
    FastCheck.assert(
      FastCheck.asyncProperty(FastCheck.array(FastCheck.constantFrom(...parts), { maxLength: 10 }), async (parts) => {
        const sentTo = await Effect.runPromise(go(`/${parts.join("")}`))
        assert.isTrue(
          sentTo === "RequestError InvalidUrl" || /^\/v1(\/|$)/.test(resolved(sentTo ?? "")),
          sentTo
        )
      }),
      runs(1_000)
    ))

  it.effect("has no fragment, wherever the request contains it", () =>
    Effect.gen(function*() {
      const { client, sent } = yield* transport(rejecting())
      const request = HttpClientRequest.get("/consumers", { hash: "top", urlParams: { page: 2 } })
      yield* callOver(client, (client) => client.execute(request))
      const [first] = yield* sent
      assert.strictEqual(first?.url, "https://api.example/v1/consumers")
      assert.isTrue(Option.isNone(first?.hash ?? Option.some("not sent")))
    }))
})

describe("a URL of the same host", () => {
  it.effect("with only a user or only a password is refused", () =>
    Effect.gen(function*() {
      for (const url of ["https://user@api.example/v1/a", "https://:pass@api.example/v1/a"]) {
        const { client, sent } = yield* transport(rejecting())
        const error = yield* Effect.flip(callOver(client, (client) => client.get(url)))
        assert(isRequestError(error))
        assert.include(error.message, "A token is sent only to https://api.example")
        assert.deepStrictEqual(yield* sent, [])
      }
    }))

  it.effect("that leaves the base path is refused with the reason", () =>
    Effect.gen(function*() {
      const { client } = yield* transport(rejecting())
      const refused = (url: string) => Effect.flip(callOver(client, (client) => client.get(url)))
      assert.include((yield* refused("../other")).message, "The path contains \"..\"")
      assert.include((yield* refused("https://api.example/other")).message, "The path leaves https://api.example/v1")
      for (const url of ["http://api.example/v1/a", "https://api.example:444/v1/a", "https://elsewhere.example/v1/a"]) {
        assert.include((yield* refused(url)).message, "A token is sent only to https://api.example. Use a relative URL")
      }
      assert.include((yield* refused("https://:/")).message, "This is not a URL")
    }))

  it.effect("is accepted in any spelling when a client rewrites the URL", () =>
    Effect.gen(function*() {
      const { client, sent } = yield* transport(rejecting())
      const spelled = HttpClient.mapRequest(client, HttpClientRequest.setUrl("HTTPS://API.example:443/v1/b"))
      yield* get(spelled)
      assert.strictEqual((yield* sent).length, 1)
    }))
})
