// B: calls of which the API rejects tokens, by the real client and supply under TestClock.

import { AuthV2 } from "@credit-data/auth-v2"
import { DataAccess } from "@credit-data/http-client"
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { Duration, Effect, Fiber, Layer, Random, Redacted, TestClock, TestContext } from "effect"
import { box, line, picture, text, width } from "./drawing.ts"

/** What a call caused, in its order. */
type Step =
  | { readonly sent: string; readonly status: number }
  | { readonly issued: string }

interface Row {
  readonly when: string
  readonly what: string
  readonly steps: ReadonlyArray<Step>
  readonly status: number
}

const auth = AuthV2.layer({
  environment: {
    name: "picture",
    audience: "a",
    baseUrl: "https://api.example",
    authV2Url: "https://oauth.example"
  },
  credentials: { clientId: "id", clientSecret: Redacted.make("secret") },
  scopes: ["data-access:all"]
})

const path = { allowed: "/data-access/consumers/42", refused: "/data-access/refused" }

const run = Effect.gen(function*() {
  let steps: Array<Step> = []
  let issued = 0
  // a token that the API does not know yet
  let unknown = ""
  const network = Layer.succeed(
    HttpClient.HttpClient,
    HttpClient.make((request, url) =>
      Effect.sync(() => {
        const respond = (status: number, body: unknown) =>
          HttpClientResponse.fromWeb(request, Response.json(body, { status }))
        if (url.pathname === "/oauth2/token") {
          const token = `token ${++issued}`.replace(" ", "-")
          steps.push({ issued: token })
          return respond(200, {
            access_token: token,
            token_type: "Bearer",
            expires_in: 86_400,
            scope: "data-access:all"
          })
        }
        const token = request.headers["authorization"]?.replace("Bearer ", "") ?? ""
        const status = url.pathname === path.refused || token === unknown ? 401 : 200
        steps.push({ sent: token, status })
        return respond(status, {})
      })
    )
  )
  const rows: Array<Row> = []
  const call = Effect.fnUntraced(function*(address: string, when = "", what = "") {
    steps = []
    const client = yield* DataAccess.DataAccess
    const fiber = yield* Effect.fork(client.get(address))
    // what waits by the clock goes on
    yield* TestClock.adjust(1)
    const { status } = yield* Fiber.join(fiber)
    if (when !== "") rows.push({ when, what, steps, status })
  })
  yield* Effect.gen(function*() {
    yield* call(path.allowed)
    yield* TestClock.adjust("22 hours")
    // the renewal is due, so this call starts it
    yield* call(path.allowed)
    unknown = "token-2"
    yield* call(path.allowed, "0 s", "The API does not know token 2 yet")
    yield* TestClock.adjust("5 seconds")
    unknown = ""
    yield* call(path.refused, "5 s", "Another path is always refused")
    yield* TestClock.adjust("5 seconds")
    yield* call(path.refused, "10 s", "The refused path again, within 30 s")
    yield* TestClock.adjust("5 seconds")
    yield* call(path.allowed, "15 s", "Other paths, meanwhile")
    yield* TestClock.adjust(Duration.seconds(21))
    yield* call(path.refused, "36 s", "The refused path, after 30 s")
  }).pipe(Effect.provide(DataAccess.layer().pipe(Layer.provide(auth), Layer.provide(network))))
  return rows
}).pipe(Effect.withRandom(Random.make("rejected tokens")), Effect.provide(TestContext.TestContext))

const spoken = (step: Step): string =>
  "issued" in step ? `request of ${step.issued.replace("-", " ")}` : `${step.sent.replace("-", " ")}: ${step.status}`

/** A call with a 401: another token, a forced renewal, the caller's 401, and the pause. */
export const rejectedToken = Effect.map(run, (rows) => {
  const left = 62
  const chip = (width - left - 14) / 5
  const rowHeight = 72
  return picture(
    `Calls whose token the API rejects. ${
      rows.map(({ status, steps, what, when }) =>
        `${when}, ${what}: ${steps.map(spoken).join(", ")}; the caller gets ${status}`
      ).join(". ")
    }.`,
    rows.length * rowHeight + 16,
    rows.flatMap(({ status, steps, what, when }, row) => {
      const y = 12 + row * rowHeight
      const chips = [
        ...steps.map((step) =>
          "issued" in step
            ? { of: "soft", words: ["new", step.issued.replace("-", " ")] }
            : { of: step.status === 401 ? "fault" : "ours", words: [step.sent.replace("-", " "), String(step.status)] }
        ),
        { of: "", words: ["caller", String(status)] }
      ]
      return [
        ...(row === 0 ? [] : [line(12, y - 4, width - 12, y - 4, "rule")]),
        text(14, y + 16, when, { of: "strong small" }),
        text(left, y + 16, what, { of: "small" }),
        ...chips.flatMap(({ of, words }, index) => {
          const from = left + index * chip
          const middle = from + (chip - 6) / 2
          const isCaller = of === ""
          return [
            isCaller
              ? box(from + 0.5, from + chip - 6.5, y + 24.5, 37, "outline")
              : box(from, from + chip - 6, y + 24, 38, of),
            ...words.map((word, at) =>
              text(middle, y + 39 + at * 16, word, {
                of: `small${isCaller ? at === 1 ? " strong" : "" : of === "soft" ? "" : " white"}`,
                anchor: "middle"
              })
            )
          ]
        })
      ]
    })
  )
})
