import { assert, describe, it } from "@effect/vitest"
import { type Happened, judge, machine, type Recording } from "../src/soak/judge.ts"

const lifetime = 5_000
const token = (id: number, issuedAt: number) => ({ id, issuedAt, expiresAt: issuedAt + lifetime })
const call = (from: number, waited: number, error?: string) => ({
  process: "1",
  from,
  until: from + waited,
  waited,
  error
})
const fault = (what: Happened["what"], from: number, until: number): Happened => ({
  name: "a fault",
  what,
  from,
  until
})
const delay = (process: string, from: number, until: number) => ({ process, from, until })

const processes = ["1", "2", "3"]
const working = { faults: 2, isFaulty: false, failures: 2, recoveries: 2 }

/** A soak of a minute in which nothing went wrong, and whose end was without faults. */
const good: Recording = {
  processes: processes.length,
  lifetime,
  from: 0,
  until: 60_000,
  tokens: [token(1, 0), token(2, 50_000), token(3, 54_000)],
  requests: [0, 50_000, 54_000],
  received: [
    { process: "1", gotAt: 99, token: 1 },
    ...processes.map((process) => ({ process, gotAt: 50_100, token: 2 })),
    { process: "1", gotAt: 54_100, token: 3 }
  ],
  calls: [call(100, 1), call(4_100, 1)],
  faults: [],
  delays: [],
  quiet: [{
    from: 50_000,
    until: 60_000,
    storeFaults: 0,
    stores: processes.map((process) => ({ process, ...working }))
  }],
  resources: [{ start: { heap: 1e7, sockets: 2 }, end: { heap: 1.1e7, sockets: 3 } }]
}

const broken = (change: Partial<Recording>) => judge({ ...good, ...change }).violations

describe("the judge of a soak", () => {
  it("finds nothing when nothing went wrong", () => {
    assert.deepStrictEqual(broken({}), [])
    assert.include(judge(good).figures, { "calls": 2, "token requests": 3, "token requests without the store": 51 })
  })

  it("finds a fleet that calls nothing", () => {
    assert.deepStrictEqual(broken({ received: [], calls: [], quiet: [] }), ["the API received no call"])
  })

  it("takes a soak of hours", () => {
    const calls = Array.from({ length: 500_000 }, (_, index) => call(index, 1))
    assert.deepStrictEqual(broken({ calls, faults: [fault("Endpoint", 0, 1)] }), [])
  })

  it("finds a token that had expired when the process got it, unless its loop was delayed", () => {
    const received = [...good.received, { process: "1", gotAt: 5_000, token: 1 }]
    const expected = ["5.0 s: process 1 got token 1 0 ms after its expiry"]
    assert.deepStrictEqual(broken({ received }), expected)
    assert.deepStrictEqual(broken({ received, delays: [delay("2", 4_500, 5_000)] }), expected)
    assert.deepStrictEqual(broken({ received, delays: [delay("1", 4_000, 4_500)] }), expected)
    assert.deepStrictEqual(broken({ received, faults: [fault("Endpoint", 3_000, 5_000)] }), expected)
    assert.deepStrictEqual(broken({ received, delays: [delay("1", 4_500, 5_000)] }), [])
  })

  it("finds a token that a process uses after a token requested later, and counts numbers out of order", () => {
    const used = (process: string, from: number, requestedAt: number) => ({ ...call(from, 1), process, requestedAt })
    const calls = [used("1", 9_000, 8_000), used("2", 9_100, 4_000), used("1", 9_200, 7_000), used("1", 9_300, 6_000)]
    assert.deepStrictEqual(broken({ calls }), [
      "9.3 s: process 1 used a token that was requested 2000 ms before its last one"
    ])
    const received = [...good.received, { process: "1", gotAt: 54_300, token: 2 }]
    assert.deepStrictEqual(broken({ received }), [])
    assert.strictEqual(judge({ ...good, received }).figures["lower numbers after higher ones"], 1)
  })

  it("finds a call that fails, unless the endpoint failed or the loop of its process or of the simulator was delayed", () => {
    const calls = [call(6_000, 10, "ServerError")]
    const expected = ["6.0 s: a call of process 1 failed: ServerError"]
    assert.deepStrictEqual(broken({ calls }), expected)
    assert.deepStrictEqual(broken({ calls, faults: [fault("Other", 5_000, 7_000)] }), expected)
    assert.deepStrictEqual(broken({ calls, delays: [delay("2", 6_005, 7_000)] }), expected)
    assert.deepStrictEqual(broken({ calls, delays: [delay("1", 6_005, 7_000)] }), [])
    // its token request began before the failure was remembered
    assert.deepStrictEqual(broken({ calls, delays: [delay("1", 1_000, 1_300)] }), [])
    assert.deepStrictEqual(broken({ calls, delays: [delay("1", 0, 600)] }), expected)
    assert.deepStrictEqual(broken({ calls, delays: [delay(machine, 6_005, 7_000)] }), [])
    // the next token came at 8 s, and every process has it 2 s later
    const tokens = [...good.tokens, token(4, 8_000)]
    const outage = { tokens, faults: [fault("Endpoint", 5_000, 7_000)] }
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

  it("finds processes that share no token when the faults are over", () => {
    const tokens = [1, 2, 3, 4].map((id) => token(id, 49_000))
    const own = processes.map((process, index) => ({ process, gotAt: 50_100, token: index + 1 }))
    const expected = ["60.0 s: the faults are over, and no token is used by more than 1 processes"]
    assert.deepStrictEqual(broken({ tokens, received: own }), expected)
    // what they used before does not count
    const before = processes.map((process) => ({ process, gotAt: 49_900, token: 4 }))
    assert.deepStrictEqual(broken({ tokens, received: [...before, ...own] }), expected)
    const one = good.received.filter(({ process }) => process !== "3")
    assert.deepStrictEqual(broken({ received: one }), [
      "60.0 s: the faults are over, and no token is used by more than 2 processes"
    ])
  })

  it("finds more than one token request in each life when the faults are over, and more than without a store", () => {
    const from = (start: number, count: number) => Array.from({ length: count }, (_, index) => start + index)
    const requests = from(50_000, 5)
    const expected = ["60.0 s: the faults are over, with 5 token requests, and 4 are allowed"]
    assert.deepStrictEqual(broken({ requests: from(50_000, 4) }), [])
    assert.deepStrictEqual(broken({ requests }), expected)
    // a process that could not use its store, or that lost its lease
    assert.deepStrictEqual(broken({ requests, quiet: good.quiet.map((each) => ({ ...each, storeFaults: 1 })) }), [])
    assert.deepStrictEqual(broken({ requests, delays: [delay("2", 51_000, 51_500)] }), [])
    assert.deepStrictEqual(broken({ requests, delays: [delay("2", 51_000, 51_499)] }), expected)
    assert.deepStrictEqual(broken({ requests: from(0, 51) }), [])
    assert.deepStrictEqual(broken({ requests: from(0, 52) }), ["52 token requests, and 51 without a store"])
  })

  it("finds a process that cannot use its store when the faults are over, and one that logged only half of it", () => {
    const said = (store: Partial<typeof working>) =>
      broken({ quiet: good.quiet.map((each) => ({ ...each, stores: [{ process: "1", ...working, ...store }] })) })
    assert.deepStrictEqual(said({}), [])
    assert.deepStrictEqual(said({ isFaulty: true }), ["60.0 s: process 1 cannot use its store, whose faults are over"])
    assert.deepStrictEqual(said({ failures: 3 }), [
      "60.0 s: process 1 logged 3 times that its store fails, and 2 times that it works"
    ])
  })

  it("finds memory and sockets that a process keeps", () => {
    const start = { heap: 1e7, sockets: 2 }
    assert.lengthOf(broken({ resources: [{ start, end: { heap: 4e7, sockets: 2 } }] }), 1)
    assert.lengthOf(broken({ resources: [{ start, end: { heap: 1e7, sockets: 6 } }] }), 1)
    assert.deepStrictEqual(broken({ resources: [{ start, end: { heap: 2e7, sockets: 5 } }] }), [])
  })
})
