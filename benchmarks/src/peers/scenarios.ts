import { loading } from "./loading.ts"
import type { Supply } from "./peer.ts"
import { type Peer, peers, us, us4 } from "./peers.ts"
import type { Result } from "./result.ts"
import { shiftedClock } from "./shiftedClock.ts"
import { withFloors } from "./turns.ts"

const pause = (millis: number) => new Promise((resume) => setTimeout(resume, millis))

let id = 0

interface Endpoint {
  readonly delay?: number
  readonly lifetime?: number
  readonly failing?: number
}

/** A separate base on the token server, and the number of token requests that it received. */
const endpoint = (url: string, { delay = 0, failing = 0, lifetime = 3_600 }: Endpoint = {}) => {
  const name = `run${++id}`
  return {
    base: `${url}/${name}/${delay}/${lifetime}/${failing}`,
    set: (state: "down" | "up") => fetch(`${url}/${state}/${name}`),
    count: async () => {
      const body: unknown = await (await fetch(`${url}/count/${name}`)).json()
      return typeof body === "object" && body !== null && "count" in body ? Number(body.count) : Number.NaN
    }
  }
}

/** Measures all libraries at the same time, because each takes long and little of the machine. */
const ofAll = async <A>(measure: (peer: Peer) => Promise<A>): Promise<Record<string, A>> =>
  Object.fromEntries(await Promise.all(peers.map(async (peer) => [peer.name, await measure(peer)] as const)))

/** Measures one library after the other. */
const ofEach = async <A>(measure: (peer: Peer) => Promise<A>): Promise<Record<string, A>> => {
  const values: Array<readonly [string, A]> = []
  for (const peer of peers) values.push([peer.name, await measure(peer)])
  return Object.fromEntries(values)
}

/** The time to get a cached token as a Promise. */
const cached = async (url: string): Promise<Result> => {
  const times = 20_000
  const time = ({ get }: Supply) => async () => {
    await get()
    const start = performance.now()
    for (let time = 0; time < times; time++) await get()
    return ((performance.now() - start) * 1_000) / times
  }
  const supplies = await ofEach((peer) => peer.make(endpoint(url).base))
  const figures = await withFloors(
    9,
    Object.fromEntries(Object.entries(supplies).map(([name, supply]) => [name, time(supply)])),
    async (line) => time(await line.makeCachedFloor())
  )
  for (const { dispose } of Object.values(supplies)) await dispose()
  // two clocks are read before a token is given out, which is a fifth of a microsecond
  return { scenario: "a cached token", unit: "µs", runs: 9, ...figures, atMost: { [us]: 1.15, [us4]: 1.45 } }
}

/**
 * Many concurrent callers without a token: the token requests that they cause, and the time that they take. Libraries that send a request for
 * each caller are left out of the larger measurement, because only the token server would be measured. The others take long too,
 * because one wakes all callers at each step.
 */
const cold = async (
  url: string,
  callers: number,
  runs: number,
  measured: ReadonlyArray<Peer> = peers
): Promise<ReadonlyArray<Result>> => {
  const requests: Record<string, number> = {}
  const at = (make: (base: string) => Promise<Supply>, name: string) => async () => {
    const { base, count } = endpoint(url, { delay: 50 })
    const { dispose, get } = await make(base)
    const start = performance.now()
    await Promise.allSettled(Array.from({ length: callers }, get))
    const time = performance.now() - start
    requests[name] = await count()
    await dispose()
    return time
  }
  const figures = await withFloors(
    runs,
    Object.fromEntries(measured.map((peer) => [peer.name, at(peer.make, peer.name)])),
    (line) => Promise.resolve(at(line.makeColdFloor, "floor"))
  )
  const { floor: _, ...counted } = requests
  const many = callers.toLocaleString("en").replace(",", " ")
  return [
    { scenario: `${many} cold callers, token requests`, unit: "", runs: 1, values: counted },
    {
      scenario: `${many} cold callers, an endpoint that takes 50 ms`,
      unit: "ms",
      runs,
      ...figures,
      // the floor sends its request without Effect's HttpClient; the floor of `coldCallers` uses it, and the threshold is 1.1
      atMost: { [us]: 1.3, [us4]: 1.3 }
    }
  ]
}

/** When a token ends, as its claims say. */
const endOf = (token: string): number => {
  const claims: unknown = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString())
  return typeof claims === "object" && claims !== null && "expiresAt" in claims ? Number(claims.expiresAt) : Number.NaN
}

/** Requests a token again and again, and counts slow calls and expired tokens. */
const load = async ({ get }: Supply, time: number, callsPerSecond = 200) => {
  let expired = 0
  let slow = 0
  const calls: Array<Promise<void>> = []
  const ends = performance.now() + time
  while (performance.now() < ends) {
    const start = performance.now()
    calls.push(
      get().then((token) => {
        if (performance.now() - start > 20) slow++
        if (!(Date.now() < endOf(token))) expired++
      }, () => {})
    )
    await pause(1_000 / callsPerSecond)
  }
  await Promise.allSettled(calls)
  return { expired, slow }
}

/** What happens at the ends of tokens, under load, with an endpoint that takes 50 ms. */
const expiring = async (
  url: string,
  { callsPerSecond, each, lifetime, seconds }: {
    readonly lifetime: number
    readonly seconds: number
    readonly callsPerSecond: number
    readonly each: typeof ofEach
  }
): Promise<ReadonlyArray<Result>> => {
  const results = await each(async (peer) => {
    const { base, count } = endpoint(url, { delay: 50, lifetime })
    const supply = await peer.make(base)
    await supply.get()
    const outcome = await load(supply, seconds * 1_000, callsPerSecond)
    await supply.dispose()
    return { ...outcome, requests: await count() }
  })
  const of = (what: "expired" | "slow" | "requests") =>
    Object.fromEntries(Object.entries(results).map(([name, result]) => [name, result[what]]))
  const scenario = `${lifetime} s tokens for ${seconds} s`
  return [
    { scenario: `${scenario}: expired tokens that callers got`, unit: "", runs: 1, values: of("expired") },
    { scenario: `${scenario}: calls over 20 ms`, unit: "", runs: 1, values: of("slow") },
    { scenario: `${scenario}: token requests`, unit: "", runs: 1, values: of("requests"), isInformation: true }
  ]
}

/** The token requests to an endpoint that fails for 3 s, under load, without a token. */
const failing = async (url: string): Promise<Result> => {
  const values = await ofEach(async (peer) => {
    const { base, count } = endpoint(url, { failing: 60_000 })
    const supply = await peer.make(base)
    await load(supply, 3_000)
    const requests = await count()
    await supply.dispose()
    return requests
  })
  return {
    id: "failing",
    scenario: "the first 3 s of an outage, 200 calls per second, token requests",
    unit: "",
    runs: 1,
    values
  }
}

const minute = 60_000
const daysMinutes = 24 * 60

/**
 * The minutes at which each library is called until an hour after the token expires: every quarter of an hour, from hour 18 on every five
 * minutes, in the last half hour of the token every half minute, and in its last minute every two seconds, because the windows in which
 * libraries renew are between hours and seconds.
 */
const minutes = [
  ...Array.from({ length: 18 * 4 }, (_, step) => (step + 1) * 15),
  ...Array.from({ length: 66 }, (_, step) => 18 * 60 + (step + 1) * 5),
  ...Array.from({ length: 58 }, (_, step) => daysMinutes - 30 + (step + 1) / 2),
  ...Array.from({ length: 30 }, (_, step) => daysMinutes - 1 + step / 30),
  ...[1, 15, 30, 45, 60].map((after) => daysMinutes + after)
]

/**
 * A day of a token of 24 hours, by a clock that is put forward: ten calls in each step, and then the time that a token request takes.
 * Returns the minutes of the calls that failed, and of those that waited.
 */
const day = async (url: string, isDown: (minute: number) => boolean) => {
  const delay = 200
  const clock = shiftedClock()
  const start = Date.now()
  const started = Object.entries(
    await ofAll(async (peer) => {
      const { base, set } = endpoint(url, { delay, lifetime: 24 * 3_600 })
      const supply = await peer.make(base)
      await supply.get()
      return { supply, set, failed: new Set<number>(), waited: new Array<number>() }
    })
  )
  for (const now of minutes) {
    // the time that the steps before have taken is part of the day
    const shift = clock.forward(Math.max(0, Math.round(start + now * minute) - Date.now()))
    await fetch(`${url}/shift/${shift}`)
    for (const [, { set }] of started) await set(isDown(now) ? "down" : "up")
    const calls = started.flatMap(([, { failed, supply, waited }]) =>
      Array.from({ length: 10 }, async () => {
        const start = performance.now()
        await supply.get().catch(() => failed.add(now))
        if (performance.now() - start > delay / 2) waited.push(now)
      })
    )
    await Promise.all([...calls, pause(delay * 1.5)])
  }
  clock.restore()
  await fetch(`${url}/shift/0`)
  for (const [, { supply }] of started) await supply.dispose()
  return {
    failed: Object.fromEntries(started.map(([name, { failed }]) => [name, failed])),
    waited: Object.fromEntries(started.map(([name, { waited }]) => [name, waited.length]))
  }
}

/** What an outage of the token endpoint and a renewal cost with tokens of 24 hours. */
const ofADay = async (url: string): Promise<ReadonlyArray<Result>> => {
  const start = 18
  const isOutage = (at: number) => at >= start * 60 && at < daysMinutes
  const outage = await day(url, isOutage)
  const renewal = await day(url, () => false)
  /** Each step stands for the time until the next one, so how often a library is called in which part of the day does not matter. */
  const lost = (failed: ReadonlySet<number>) =>
    minutes.reduce(
      (sum, at, step) =>
        isOutage(at) && failed.has(at) ? sum + Math.min(minutes[step + 1] ?? at, daysMinutes) - at : sum,
      0
    )
  const inOutage = Object.entries(outage.failed).map(([name, failed]) => [name, lost(failed)] as const)
  return [
    {
      id: "outage",
      scenario:
        `a 24-hour token, the token endpoint is down from hour ${start} until the token expires: minutes in which calls fail`,
      unit: "",
      runs: 1,
      // a step of two seconds is a thirtieth of a minute
      values: Object.fromEntries(inOutage.map(([name, total]) => [name, Math.round(total * 30) / 30]))
    },
    {
      id: "waits",
      scenario: "a 24-hour token, 25 hours, 10 calls at a time: calls that wait for a renewal",
      unit: "",
      runs: 1,
      values: renewal.waited
    }
  ]
}

/** What each library does when the API rejects its tokens: 1 000 calls, 20 in flight. */
const rejected = async (url: string): Promise<ReadonlyArray<Result>> => {
  const at = (path: string) =>
    ofEach(async (peer) => {
      const { base, count } = endpoint(url)
      const { call, dispose } = await peer.makeCalls(url, path, base)
      let left = 1_000
      let failed = 0
      const worker = async () => {
        // the interceptor of undici rejects
        while (left-- > 0) if (await call().catch(() => 401) !== 200) failed++
      }
      await Promise.all(Array.from({ length: 20 }, worker))
      await dispose()
      return { failed, requests: await count() }
    })
  const refused = await at("/refused")
  const revoked = await at("/revoked")
  const of = (results: typeof refused, what: "failed" | "requests") =>
    Object.fromEntries(Object.entries(results).map(([name, result]) => [name, result[what]]))
  return [
    {
      id: "storm",
      scenario: "the API rejects every token, 1 000 calls, 20 in flight: token requests",
      unit: "",
      runs: 1,
      values: of(refused, "requests")
    },
    {
      id: "revoked",
      scenario: "the API rejects the first token, 1 000 calls, 20 in flight: failed calls",
      unit: "",
      runs: 1,
      values: of(revoked, "failed")
    },
    { scenario: "the same: token requests", unit: "", runs: 1, values: of(revoked, "requests"), isInformation: true }
  ]
}

/** The CPU time of an authenticated call in the way of each library's users, 32 in flight. */
const calls = async (url: string): Promise<Result> => {
  const times = 500
  const cpu = async (call: () => Promise<unknown>) => {
    const before = process.cpuUsage()
    let left = times
    const worker = async () => {
      while (left-- > 0) await call()
    }
    await Promise.all(Array.from({ length: 32 }, worker))
    const { system, user } = process.cpuUsage(before)
    return (system + user) / times
  }
  const path = "/api/data-access/consumers/42"
  const started = await ofEach((peer) => peer.makeCalls(url, path, endpoint(url).base))
  const figures = await withFloors(
    21,
    Object.fromEntries(Object.entries(started).map(([name, { call }]) => [name, () => cpu(call)])),
    (line) => {
      const { call } = line.makeBareCalls(url, path)
      return Promise.resolve(() => cpu(call))
    }
  )
  for (const { dispose } of Object.values(started)) await dispose()
  return {
    id: "cpu",
    scenario: "CPU of an authenticated call, 32 in flight, over the transport in the setup",
    unit: "µs",
    runs: 21,
    ...figures,
    // with fewer calls than in `authenticatedCall`, where the threshold is 1.05
    atMost: { [us]: 1.2, [us4]: 1.2 }
  }
}

/** Measures all scenarios with the token server at this address. */
export const measure = async (url: string): Promise<ReadonlyArray<Result>> => {
  const few = await cold(url, 1_000, 9)
  const sharing = peers.filter(({ name }) => few[0]?.values[name] === 1)
  return [
    await cached(url),
    ...few,
    ...await cold(url, 10_000, 5, sharing),
    ...await expiring(url, { lifetime: 2, seconds: 6, callsPerSecond: 200, each: ofEach }),
    ...await expiring(url, { lifetime: 180, seconds: 200, callsPerSecond: 50, each: ofAll }),
    await failing(url),
    ...await ofADay(url),
    ...await rejected(url),
    await calls(url),
    ...await loading()
  ]
}
