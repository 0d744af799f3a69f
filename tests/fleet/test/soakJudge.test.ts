import { assert, describe, it } from "@effect/vitest"
import { type Happened, judge, type Recording } from "../src/soak/judge.ts"

const lifetime = 5_000
const token = (id: number, issuedAt: number) => ({ id, issuedAt, expiresAt: issuedAt + lifetime })
const call = (from: number, waited: number, error?: string) => ({
  process: "1",
  from,
  until: from + waited,
  waited,
  error
})
const fault = (what: Happened["what"], from: number, until: number, who?: ReadonlyArray<string>): Happened => ({
  name: "a fault",
  what,
  who,
  from,
  until
})

/** A soak of a minute in which nothing went wrong. */
const quiet: Recording = {
  processes: 20,
  lifetime,
  from: 0,
  until: 60_000,
  tokens: [token(1, 0), token(2, 4_000), token(3, 8_000)],
  requests: [0, 4_000, 8_000],
  received: [{ process: "1", gotAt: 99, token: 1 }, { process: "1", gotAt: 4_099, token: 2 }],
  calls: [call(100, 1), call(4_100, 1)],
  faults: [],
  resources: [{ start: { heap: 1e7, sockets: 2 }, end: { heap: 1.1e7, sockets: 3 } }]
}

const broken = (change: Partial<Recording>) => judge({ ...quiet, ...change }).violations

describe("the judge of a soak", () => {
  it("finds nothing when nothing went wrong", () => {
    assert.deepStrictEqual(broken({}), [])
    assert.include(judge(quiet).figures, { "calls": 2, "token requests": 3, "token requests allowed": 17 })
  })

  it("finds a fleet that calls nothing", () => {
    assert.deepStrictEqual(broken({ received: [], calls: [] }), ["the API received no call"])
  })

  it("takes a soak of hours", () => {
    const calls = Array.from({ length: 500_000 }, (_, index) => call(index, 1))
    assert.deepStrictEqual(broken({ calls, faults: [fault("Endpoint", 0, 1)] }), [])
  })

  it("finds a token that had expired when the process got it, unless the process was stopped meanwhile", () => {
    const received = [{ process: "1", gotAt: 5_000, token: 1 }]
    assert.deepStrictEqual(broken({ received }), ["5.0 s: process 1 got token 1 0 ms after its expiry"])
    assert.lengthOf(broken({ received, faults: [fault("Processes", 3_000, 4_900, ["2"])] }), 1)
    assert.lengthOf(broken({ received, faults: [fault("Endpoint", 3_000, 4_900)] }), 1)
    assert.deepStrictEqual(broken({ received, faults: [fault("Processes", 3_000, 4_900, ["1"])] }), [])
  })

  it("finds a token that a process uses after a token requested later, and counts numbers out of order", () => {
    const used = (process: string, from: number, requestedAt: number) => ({ ...call(from, 1), process, requestedAt })
    const calls = [used("1", 9_000, 8_000), used("2", 9_100, 4_000), used("1", 9_200, 7_000), used("1", 9_300, 6_000)]
    assert.deepStrictEqual(broken({ calls }), [
      "9.3 s: process 1 used a token that was requested 2000 ms before its last one"
    ])
    const received = [{ process: "1", gotAt: 4_100, token: 2 }, { process: "1", gotAt: 4_300, token: 1 }]
    assert.deepStrictEqual(broken({ received }), [])
    assert.strictEqual(judge({ ...quiet, received }).figures["lower numbers after higher ones"], 1)
  })

  it("finds a call that fails, unless the endpoint failed or its process was stopped", () => {
    const calls = [call(6_000, 10, "ServerError")]
    assert.deepStrictEqual(broken({ calls }), ["6.0 s: a call of process 1 failed: ServerError"])
    assert.deepStrictEqual(broken({ calls, faults: [fault("Processes", 6_005, 7_000, ["1"])] }), [])
    assert.lengthOf(broken({ calls, faults: [fault("Store", 5_000, 7_000)] }), 1)
    // the next token came at 8 s, and every process has it 2 s later
    const outage = { faults: [fault("Endpoint", 5_000, 7_000)] }
    assert.deepStrictEqual(broken({ calls, ...outage }), [])
    assert.deepStrictEqual(broken({ calls: [call(9_900, 10, "ServerError")], ...outage }), [])
    assert.lengthOf(broken({ calls: [call(10_100, 10, "ServerError")], ...outage }), 1)
  })

  it("finds a 401, unless all tokens were revoked shortly before", () => {
    const revoked = { faults: [fault("Tokens", 5_000, 5_000)] }
    assert.lengthOf(broken({ calls: [call(6_000, 10, "status 401")] }), 1)
    assert.deepStrictEqual(broken({ calls: [call(6_000, 10, "status 401")], ...revoked }), [])
    assert.lengthOf(broken({ calls: [call(7_100, 10, "status 401")], ...revoked }), 1)
    assert.lengthOf(broken({ calls: [call(6_000, 10, "ServerError")], ...revoked }), 1)
  })

  it("finds a call that waits for long", () => {
    assert.deepStrictEqual(broken({ calls: [call(0, 8_000)] }), [])
    assert.deepStrictEqual(broken({ calls: [call(0, 8_100)] }), ["8.1 s: a call of process 1 waited for 8100 ms"])
  })

  it("finds more token requests than the faults explain", () => {
    const requests = Array.from({ length: 40 }, (_, index) => index)
    assert.deepStrictEqual(broken({ requests }), ["40 token requests, and 17 are allowed"])
    assert.deepStrictEqual(broken({ requests, faults: [fault("Store", 0, 1_000)] }), [])
    assert.lengthOf(broken({ requests, faults: [fault("Processes", 0, 1_000), fault("Tokens", 0, 0)] }), 1)
    assert.deepStrictEqual(broken({ requests, faults: [fault("Endpoint", 0, 10_000)] }), [])
    // a failed connection concerns only its own process, and a response with an error is shared
    assert.lengthOf(broken({ requests, faults: [fault("Endpoint", 0, 2_500)] }), 1)
    assert.deepStrictEqual(broken({ requests, faults: [fault("Connections", 0, 2_500)] }), [])
    const endless = Array.from({ length: 400 }, (_, index) => index)
    assert.lengthOf(broken({ requests: endless, faults: [fault("Connections", 0, 2_500)] }), 1)
  })

  it("finds memory and sockets that a process keeps", () => {
    const start = { heap: 1e7, sockets: 2 }
    assert.lengthOf(broken({ resources: [{ start, end: { heap: 4e7, sockets: 2 } }] }), 1)
    assert.lengthOf(broken({ resources: [{ start, end: { heap: 1e7, sockets: 6 } }] }), 1)
    assert.deepStrictEqual(broken({ resources: [{ start, end: { heap: 2e7, sockets: 5 } }] }), [])
  })
})
