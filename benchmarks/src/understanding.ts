import { AuthV2 } from "@credit-data/auth-v2"
import { TokenEndpoint } from "@credit-data/core"
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { Context, Effect, Either, Layer, Redacted } from "effect"
import { type Measurement, median } from "./report.ts"

const warmUps = 5
const rounds = 25
const millisPerBatch = 40

interface Sample {
  readonly what: string
  readonly status: number
  readonly body: string
  /** The tag of the error with which the token request fails, or none if the response contains a valid token. */
  readonly error?: string
  readonly atMost: number
}

/** Pseudo-random characters from the alphabet of a JWT. They are the same in each run. */
const characters = (length: number): string => {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
  let state = length
  return Array.from({ length }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return alphabet[state >>> 26]
  }).join("")
}

/** English text in ASCII of this length. */
const sentences = (length: number): string =>
  "The client may not use this grant type, see the documentation. ".repeat(length).slice(0, length)

const requested = ["data-access:all", "furnishment:all"] as const

const legacyScopes = ["read", "write"].flatMap((verb) =>
  ["consumers", "reports", "alerts", ...["tu", "efx", "exp"].map((service) => `credit.${service}.score.vantage3`)].map(
    (resource) => `${verb}:${resource}`
  )
)

/** A token response that follows the contract, with these fields added. */
const granted = (fields: object) =>
  JSON.stringify({ access_token: characters(1_000), expires_in: 86_400, token_type: "Bearer", ...fields })

const shortToken = characters(4_000)

const samples: ReadonlyArray<Sample> = [
  {
    what: "a token of 64 KiB, the requested scopes",
    status: 200,
    body: granted({ access_token: characters(64 * 1024), scope: requested.join(" ") }),
    atMost: 50
  },
  {
    what: "a token of 64 KiB, unknown scopes",
    status: 200,
    body: granted({ access_token: characters(64 * 1024), scope: legacyScopes.join(" ") }),
    atMost: 50
  },
  {
    what: "a token beside an id_token of 700 kB, the requested scopes",
    status: 200,
    body: granted({ scope: requested.join(" "), id_token: characters(700_000) }),
    atMost: 20
  },
  {
    what: "a token beside an id_token of 700 kB, unknown scopes",
    status: 200,
    body: granted({ scope: legacyScopes.join(" "), id_token: characters(700_000) }),
    atMost: 20
  },
  {
    what: "a 401 with an error_description and an id_token of 700 kB",
    status: 401,
    body: JSON.stringify({
      error: "invalid_client",
      error_description: sentences(150),
      id_token: characters(700_000)
    }),
    error: "InvalidClient",
    atMost: 20
  },
  {
    what: "a 400 of 883 KiB with a token in its error_description",
    status: 400,
    body: JSON.stringify({
      error: "invalid_request",
      error_description: `${sentences(435 * 1024)}${shortToken}${sentences(435 * 1024)}`,
      access_token: shortToken,
      error_uri: `https://auth.example/${characters(883 * 1024 - 870 * 1024 - 2 * 4_000 - 121)}`
    }),
    error: "ServerError",
    atMost: 20
  },
  {
    what: "a 400 of 900 kB with a periodic token that almost occurs in its periodic error_description",
    status: 400,
    body: JSON.stringify({
      error: "invalid_request",
      error_description: "a".repeat(900_000),
      access_token: `ab${"a".repeat(4_094)}`
    }),
    error: "ServerError",
    atMost: 20
  }
]

/** A token request that gets this response from a transport without a network. */
const tokenRequest = ({ body, status }: Pick<Sample, "body" | "status">) => {
  const bytes = new TextEncoder().encode(body)
  const transport = HttpClient.make((request) =>
    Effect.sync(() => HttpClientResponse.fromWeb(request, new Response(bytes, { status })))
  )
  const url = "https://auth.example"
  const endpoint = AuthV2.layerTokenEndpoint({
    environment: { name: "benchmark", audience: "a", baseUrl: url, authV2Url: url },
    credentials: { clientId: "id", clientSecret: Redacted.make(characters(64)) },
    scopes: requested
  })
  return Effect.map(
    Layer.build(Layer.provide(endpoint, Layer.succeed(HttpClient.HttpClient, transport))),
    (context) => Effect.either(Context.get(context, TokenEndpoint.TokenEndpoint).requestToken({ _tag: "Nothing" }))
  )
}

/** The average CPU time of an operation in a batch, in microseconds. It includes garbage collection. */
const cpu = (operation: Effect.Effect<unknown>) =>
  Effect.gen(function*() {
    let count = 0
    const before = process.cpuUsage()
    const end = performance.now() + millisPerBatch
    yield* Effect.whileLoop({
      while: () => count === 0 || performance.now() < end,
      body: () => operation,
      step: () => count++
    })
    const { system, user } = process.cpuUsage(before)
    return (system + user) / count
  })

/** The CPU times of one round: of a request, of a request with a tiny response, and of `JSON.parse` of the response. */
interface Round {
  readonly whole: number
  readonly constant: number
  readonly parse: number
}

const measure = (tiny: Effect.Effect<unknown>) =>
  Effect.fnUntraced(function*(sample: Sample) {
    const request = yield* tokenRequest(sample)
    const error = Either.match(yield* request, { onLeft: ({ _tag }) => _tag, onRight: () => undefined })
    if (error !== sample.error) return yield* Effect.dieMessage(`${sample.what} was understood as ${String(error)}`)

    const parse = Effect.sync((): unknown => JSON.parse(sample.body))
    const all: Array<Round> = []
    for (let round = 0; round < warmUps + rounds; round++) {
      const figures = { parse: yield* cpu(parse), constant: yield* cpu(tiny), whole: yield* cpu(request) }
      if (round >= warmUps) all.push(figures)
    }
    const baseline = median(all.map(({ parse }) => parse))
    return {
      what: `understanding ${sample.what}`,
      value: median(all.map(({ constant, whole }) => whole - constant)) / baseline,
      unit: `× JSON.parse of it (${baseline.toFixed(0)} µs)`,
      atMost: sample.atMost
    }
  })

/**
 * The CPU time of a token request minus the time of a request with a tiny response, as a ratio to `JSON.parse` of its response.
 */
export const understanding: Effect.Effect<ReadonlyArray<Measurement>, unknown> = Effect.gen(function*() {
  const tiny = yield* tokenRequest({ status: 200, body: granted({ scope: requested.join(" ") }) })
  for (let round = 0; round < rounds; round++) yield* cpu(tiny)
  return yield* Effect.forEach(samples, measure(tiny))
}).pipe(Effect.scoped)
