import { AccessToken, AccessTokens, TokenEndpoint, TokenError } from "@credit-data/core"
import { Prometheus, Telemetry } from "@credit-data/telemetry"
import { DateTime, Duration, Effect, Layer, Logger, Random, Redacted, TestClock, TestContext } from "effect"

/** The length of the run, in minutes. */
export const minutes = 240

/** What happens in the run, in minutes from its start. */
export const incidents = [
  { from: 85, to: 125, name: "the token endpoint returns 503" },
  { from: 170, to: 172, name: "the API rejects the token" }
] as const

const [outage, rejection] = incidents

const where = { environment: "recorded", tokenEndpoint: "https://oauth.recorded.example/oauth2/token" }

/** A token endpoint that takes 300 ms and grants tokens of an hour, but not during the outage. */
const endpoint = Layer.succeed(TokenEndpoint.TokenEndpoint, {
  environment: { name: where.environment, audience: "recorded", baseUrl: "https://api.recorded.example" },
  url: where.tokenEndpoint,
  requestedScopes: ["data-access:all"] as const,
  deadline: Duration.seconds(10),
  requestToken: Effect.fnUntraced(function*() {
    const requestedAt = yield* DateTime.now
    yield* Effect.sleep("300 millis")
    const minute = DateTime.toEpochMillis(requestedAt) / 60_000
    if (minute >= outage.from && minute < outage.to) {
      return yield* new TokenError.ServerError({ ...where, status: 503 })
    }
    return new AccessToken.AccessToken({
      secret: Redacted.make(`token of minute ${minute}`),
      scopes: [],
      requestedAt,
      expiresAt: DateTime.addDuration(requestedAt, "1 hour"),
      covered: ["data-access:all", "furnishment:all", "serviceplus:all"]
    })
  })
})

/** The metrics of a minute, by name and labels. */
export type Minute = ReadonlyMap<string, number>

const read = Effect.map(Prometheus.text, (text): Minute =>
  new Map(
    text.split("\n").filter((line) => line.includes(`credit_data_environment="recorded"`)).map((line) => {
      const end = line.lastIndexOf(" ")
      return [line.slice(0, end), Number(line.slice(end + 1))]
    })
  ))

/** A supply and its metrics over four hours: a caller every 5 seconds, an outage when a renewal is due, and a rejected token. */
export const record = Effect.gen(function*() {
  const tokens = yield* AccessTokens.AccessTokens
  const recorded: Array<Minute> = []
  let rejected: AccessToken.AccessToken | undefined
  for (let second = 0; second < minutes * 60; second += 5) {
    if (second % 60 === 0) recorded.push(yield* read)
    if (second === rejection.from * 60) rejected = yield* tokens.get
    if (rejected !== undefined && second < rejection.to * 60) yield* tokens.invalidate(rejected)
    yield* Effect.fork(Effect.exit(tokens.get))
    yield* TestClock.adjust("5 seconds")
  }
  return recorded
}).pipe(
  Effect.provide(
    Telemetry.layer({ sampleInterval: "1 minute" }).pipe(
      Layer.provideMerge(AccessTokens.layer()),
      Layer.provide([endpoint, Logger.remove(Logger.defaultLogger)])
    )
  ),
  Effect.withRandom(Random.make("a recorded run")),
  Effect.provide(TestContext.TestContext)
)
