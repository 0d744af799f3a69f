import { DataAccess } from "@credit-data/http-client"
import { isRequestError, kindOf } from "@credit-data/test-support/httpErrors"
import { assert, describe, it } from "@effect/vitest"
import { HttpClient, HttpClientRequest } from "@effect/platform"
import { Effect, FastCheck } from "effect"
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
    ["/consumers?page=2#top", "https://api.example/v1/consumers?page=2#top"],
    ["", "https://api.example/v1"],
    ["?page=2", "https://api.example/v1?page=2"],
    ["/", "https://api.example/v1/"],
    ["/a/../b", "https://api.example/v1/b"],
    ["/a/./b", "https://api.example/v1/a/b"],
    ["/a%2Fb", "https://api.example/v1/a%2Fb"],
    ["/.well-known", "https://api.example/v1/.well-known"],
    ["/@someone", "https://api.example/v1/@someone"],
    ["/..x/y", "https://api.example/v1/..x/y"],
    ["/consumers", "https://api.example/consumers", "https://api.example"],
    ["/a/../../b", "https://api.example/b", "https://api.example"],
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
      "https://api.example/other",
      "https://api.example/v1/../other",
      "https://api.example/v10/x",
      "/a/..%5c..%5cconsumers"
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
      { numRuns: 500 }
    ))
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
      const error = yield* Effect.flip(callOver(client, (client) => client.get("../other")))
      assert.include(error.message, "The path leaves https://api.example/v1")
    }))

  it.effect("is accepted in any spelling when a client rewrites the URL", () =>
    Effect.gen(function*() {
      const { client, sent } = yield* transport(rejecting())
      const spelled = HttpClient.mapRequest(client, HttpClientRequest.setUrl("HTTPS://API.example:443/v1/b"))
      yield* get(spelled)
      assert.strictEqual((yield* sent).length, 1)
    }))
})
