import { restrictedClient, Transport, within } from "@credit-data/core/Internal"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { failed, type Finding, instant, length, ok, warning } from "./step.ts"
import type { Target } from "./target.ts"

const suspicious = 30_000
const wrong = 5 * 60_000

const unknown = (why: string): Finding =>
  warning(`not compared: ${why}`, "Compare the clock of this machine with another source, such as `timedatectl`.")

/**
 * By how much the local clock is ahead of a server, at least: its `Date` is cut to a second, and was written at some
 * time between the request and the response.
 */
export const aheadBy = (
  times: { readonly date: number; readonly sentAt: number; readonly receivedAt: number }
): number => Math.max(0, times.sentAt - (times.date + 1_000)) - Math.max(0, times.date - times.receivedAt)

/** Compares the local clock with the `Date` of a response to a HEAD, which may take half of the time: the server can still issue tokens. */
export const check = Effect.fnUntraced(
  function*({ role, url }: Target, timeLimit: number): Effect.fn.Return<Finding, Finding, HttpClient.HttpClient> {
    const origin = `${url.origin}/`
    const client = restrictedClient(yield* HttpClient.HttpClient, { isAllowed: (url) => url === origin })
    const sentAt = yield* Clock.currentTimeMillis
    const response = yield* client.head(origin, { headers: { "cache-control": "no-cache" } }).pipe(
      Effect.tap(({ arrayBuffer }) => Effect.ignore(arrayBuffer)),
      Effect.map(({ headers }) => Date.parse(headers["date"] ?? "")),
      Effect.mapError(Transport.reason),
      within(timeLimit / 2, () => "Timeout" as const),
      Effect.either
    )
    const receivedAt = yield* Clock.currentTimeMillis
    if (Either.isLeft(response)) return unknown(`${role} did not respond to a HEAD (${response.left})`)
    const date = response.right
    if (Number.isNaN(date)) return unknown(`${role} sent no date`)
    const ahead = aheadBy({ date, sentAt, receivedAt })
    const difference = Math.abs(ahead)
    if (difference === 0) return ok(`agrees with ${role}`)
    const detail = `${length(difference)} ${ahead > 0 ? "ahead of" : "behind"} ${role}`
    const advice = `Synchronize the clock of this machine (NTP): it shows ${instant(receivedAt)}, and ${role} ` +
      `shows ${instant(date)}.`
    if (difference > wrong) return yield* failed(detail, advice)
    return difference > suspicious ? warning(detail, advice) : ok(detail)
  }
)
