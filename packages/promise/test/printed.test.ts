import type { Connection } from "@credit-data/promise"
import { Fault } from "@credit-data/simulator"
import { assert, describe, it } from "@effect/vitest"
import { Console } from "node:console"
import { Writable } from "node:stream"
import { inspect } from "node:util"
import pino from "pino"
import { connected } from "./support/connection.ts"

// What a program finds in its logs, whichever way it prints an error.

const collecting = () => {
  let text = ""
  const stream = new Writable({
    write: (chunk, _, done) => {
      text += String(chunk)
      done()
    }
  })
  return { stream, text: () => text }
}

/** What each way of printing shows. */
const printed = (error: unknown): Readonly<Record<string, string>> => {
  const console = collecting()
  new Console(console.stream, console.stream).error("failed", error)
  const logger = collecting()
  pino(logger.stream).error({ err: error, error }, "failed")
  return {
    "console.error": console.text(),
    inspect: inspect(error, { showHidden: true, getters: true, depth: Infinity }),
    "JSON.stringify": JSON.stringify({ error }),
    pino: logger.text()
  }
}

/** What a request of the caller contains. */
const secrets = ["the-body", "the-cookie", "the-key", "the-id", "the-header"]

const post = (signal?: AbortSignal): RequestInit => ({
  method: "POST",
  body: "the-body",
  headers: { cookie: "session=the-cookie", "x-api-key": "the-key", "x-own": "the-header" },
  ...(signal !== undefined && { signal })
})

/** The function that awaits, as the stack of an error names it. */
async function callerOfTheApi(call: () => Promise<unknown>): Promise<unknown> {
  try {
    await call()
  } catch (error) {
    return error
  }
  return assert.fail("it did not reject")
}

type Failing = (api: Connection) => Promise<unknown>

const call: Failing = (api) => api.dataAccess("/data-access/consumers/the-id", post())
const read: Failing = async (api) => (await api.dataAccess("/data-access/consumers/the-id", post())).json()

interface Case {
  readonly name: string
  readonly reason?: string
  readonly atToken?: Fault.Fault
  readonly atApi?: Fault.Fault
  readonly calls: ReadonlyArray<Failing>
}

const bytes = Fault.responseBytes({ headers: ["Content-Length: 1000"], body: "{}" })

const cases: ReadonlyArray<Case> = [
  { name: "InvalidClient", atToken: Fault.oauthError(401, "invalid_client"), calls: [call, (api) => api.token()] },
  { name: "ServerError", atToken: Fault.oauthError(400, "invalid_target"), calls: [call, (api) => api.token()] },
  { name: "InvalidResponse", atToken: Fault.Response({ status: 200, body: "no JSON" }), calls: [call] },
  { name: "CallError", reason: "Reset", atApi: Fault.Reset(), calls: [call] },
  { name: "CallError", reason: "Cut", atApi: Fault.Bytes({ bytes, ending: "End" }), calls: [read] },
  { name: "CallError", reason: "InvalidUrl", calls: [(api) => api.dataAccess("/../the-id", post())] },
  {
    name: "CallError",
    reason: "Encode",
    calls: [(api) => api.dataAccess("/the-id", { headers: { "x-own": "the-header\n" } })]
  },
  {
    name: "CallError",
    reason: "Closed",
    calls: [
      async (api) => {
        await api.close()
        await call(api)
      }
    ]
  }
]

describe("an error", () => {
  for (const { atApi, atToken, calls, name, reason } of cases) {
    it.live(`shows nothing of the request, and its stack the caller: ${name} ${reason ?? ""}`, () =>
      connected(async ({ api, run, simulator }) => {
        if (atToken !== undefined) await run(simulator.failTokenRequests(atToken, { times: Infinity }))
        if (atApi !== undefined) await run(simulator.failCalls(atApi, { times: Infinity }))
        for (const failing of calls) {
          const error = await callerOfTheApi(() => failing(api))
          assert.instanceOf(error, Error)
          assert.strictEqual(error.name, name)
          if (reason !== undefined) assert.propertyVal(error, "reason", reason)
          assert.include(error.stack, "callerOfTheApi")
          const { lastFailure } = await api.status().catch(() => ({ lastFailure: undefined }))
          for (const shown of [error, lastFailure]) {
            for (const [way, text] of Object.entries(printed(shown))) {
              if (shown === error) assert.include(text, error.message.slice(0, 16), way)
              for (const secret of secrets) assert.notInclude(text, secret, way)
            }
          }
        }
      }))
  }
})
