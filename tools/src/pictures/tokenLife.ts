// A: 30 hours of a token supply under TestClock, with a caller per minute, and an outage of the token endpoint when the renewal is due.

import { AccessToken, AccessTokens, TokenEndpoint, TokenError } from "@credit-data/core"
import { Clock, DateTime, Duration, Effect, Layer, Random, Redacted, TestClock, TestContext } from "effect"
import { box, dot, line, picture, text, width } from "./drawing.ts"

const hour = 3_600_000
const outage = { from: 18, to: 20 }
const hours = 30

const environment = { name: "picture", audience: "a", baseUrl: "https://api.example" }
const url = "https://oauth.example/oauth2/token"

interface Request {
  readonly at: number
  readonly isFailed: boolean
}

const run = Effect.gen(function*() {
  const requests: Array<Request> = []
  const start = yield* Clock.currentTimeMillis
  const now = Effect.map(Clock.currentTimeMillis, (millis) => (millis - start) / hour)
  const endpoint = Layer.succeed(TokenEndpoint.TokenEndpoint, {
    environment,
    url,
    requestedScopes: [],
    deadline: Duration.seconds(10),
    requestToken: () =>
      Effect.gen(function*() {
        const at = yield* now
        const isFailed = at >= outage.from && at < outage.to
        requests.push({ at, isFailed })
        if (isFailed) {
          return yield* new TokenError.ServerError({ environment: "picture", tokenEndpoint: url, endpointStatus: 503 })
        }
        const requestedAt = yield* DateTime.now
        return new AccessToken.AccessToken({
          secret: Redacted.make(`token ${requests.length}`),
          scopes: [],
          requestedAt,
          expiresAt: DateTime.addDuration(requestedAt, "24 hours")
        })
      })
  })
  const uses: Array<{ readonly token: string; readonly from: number; to: number; readonly expires: number }> = []
  let failedCalls = 0
  yield* Effect.gen(function*() {
    const { get } = yield* AccessTokens.AccessTokens
    while ((yield* now) <= hours) {
      const at = yield* now
      const got = yield* Effect.either(get)
      if (got._tag === "Left") failedCalls++
      else {
        const token = Redacted.value(got.right.secret)
        const last = uses.at(-1)
        if (last?.token === token) last.to = at
        else uses.push({ token, from: at, to: at, expires: (got.right.expiresAt.epochMillis - start) / hour })
      }
      yield* TestClock.adjust("1 minute")
    }
  }).pipe(Effect.provide(AccessTokens.layer().pipe(Layer.provide(endpoint))))
  return { requests, uses, failedCalls }
}).pipe(
  Effect.withRandom(Random.make("a renewal that is due during the outage")),
  Effect.provide(TestContext.TestContext)
)

/** 24 hours of a token, the band in which it is renewed, and an outage of two hours. */
export const tokenLife = Effect.map(run, ({ failedCalls, requests, uses }) => {
  const left = 96
  const at = (time: number) => left + time * (width - left - 16) / hours
  const failed = requests.filter(({ isFailed }) => isFailed).length
  const [first, second] = uses
  if (first === undefined || second === undefined || uses.length !== 2) throw new Error("Expected two tokens")
  const bar = (use: typeof first, y: number, name: string) => [
    box(at(use.from), at(Math.min(use.expires, hours)), y, 26, "soft"),
    box(at(use.from), at(use.to), y, 26, "ours"),
    text(at(use.from) + 8, y + 18, name, { of: "white small" })
  ]
  return picture(
    `30 hours with 24-hour tokens. A renewal is due between 75 and 90 % of the lifetime. During an outage of two hours, ${failed} token ` +
      `requests fail, and ${
        failedCalls === 0 ? "no call fails" : `${failedCalls} calls fail`
      }, because the first token is still valid. ` +
      `After the outage, a second token replaces it.`,
    262,
    [
      box(at(18), at(21.6), 44, 146, "quiet"),
      text(at(18) - 6, 32, "renewal due: 75–90 %", { of: "small dim", anchor: "middle" }),
      box(at(outage.from), at(outage.to), 150, 40, "outage"),
      text(14, 72, "token 1", { of: "small" }),
      ...bar(first, 54, "in use"),
      text(at(24) - 4, 98, "valid until 24 h", { of: "small dim", anchor: "end" }),
      text(14, 126, "token 2", { of: "small" }),
      ...bar(second, 108, "in use"),
      text(14, 166, "token", { of: "small" }),
      text(14, 183, "requests", { of: "small" }),
      line(at(0), 170, at(hours), 170),
      ...requests.map(({ at: time, isFailed }) =>
        isFailed ? line(at(time), 162, at(time), 178, "tick") : dot(at(time), 170, "ours", 6)
      ),
      text(at(outage.from) - 8, 165, `${failed} fail`, { of: "small fault", anchor: "end" }),
      line(at(0), 206, at(hours), 206),
      ...[0, 6, 12, 18, 24, 30].flatMap((time) => [
        line(at(time), 206, at(time), 211),
        text(at(time), 226, time === 0 ? "0 h" : String(time), {
          of: "small dim",
          anchor: time === 30 ? "end" : "middle"
        })
      ]),
      text(14, 249, `One call a minute for 30 hours: ${failedCalls === 0 ? "none" : failedCalls} failed.`, {
        of: "strong"
      })
    ]
  )
})
