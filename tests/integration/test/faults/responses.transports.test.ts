import { TokenError } from "@credit-data/core"
import { listen } from "@credit-data/test-support/listen"
import { failures, otherStatuses, outsideTheContract } from "@credit-data/test-support/tokenResponses"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer } from "node:http"
import { requestToken } from "../../src/clients.ts"
import { transports } from "../../src/transports.ts"

const responses = [...outsideTheContract, ...otherStatuses, ...failures]

describe.each(transports)("the responses of a token endpoint, over %s", (_, transport) => {
  it.scopedLive("every response that must fail is the same failure as in memory, after one request", () =>
    Effect.gen(function*() {
      let requests = 0
      const port = yield* listen(createServer((request, response) => {
        const { body, status } = responses[requests++] ?? { body: "", status: 500 }
        request.resume().on("end", () => response.writeHead(status, { location: "/elsewhere" }).end(body))
      }))
      for (const [index, { failure, name, retryable, status }] of responses.entries()) {
        const error = yield* Effect.flip(requestToken(`http://127.0.0.1:${port}`, transport))
        assert(TokenError.isTokenError(error), name)
        assert.deepInclude<object>({ ...error, retryable: error.retryable }, { ...failure, status, retryable }, name)
        assert.strictEqual(requests, index + 1, name)
      }
    }))
})
