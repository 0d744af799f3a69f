import { Transport, within } from "@credit-data/core/Internal"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { failed, type Failed, type Finding, instant, length, ok, reasons, warning } from "./step.ts"
import type { Target } from "./target.ts"

const suspicious = 30_000
const wrong = 5 * 60_000

/** Shorter than the step, because a server that ignores HEAD can still issue tokens. */
const timeLimit = "5 seconds"

const unknown = (detail: string): Finding =>
  warning(detail, "Compare the clock of this machine with another source, such as `timedatectl`.", undefined)

/**
 * By how much the local clock is ahead of a server, at least: its `Date` is cut to a second, and was written at some
 * time between the request and the response.
 */
export const aheadBy = (
  times: { readonly date: number; readonly sentAt: number; readonly receivedAt: number }
): number => Math.max(0, times.sentAt - (times.date + 1_000)) - Math.max(0, times.date - times.receivedAt)

/** Compares the local clock with the `Date` of a response to a HEAD. */
export const check = Effect.fnUntraced(
  function*({ role, url }: Target): Effect.fn.Return<Finding, Failed, HttpClient.HttpClient> {
    const origin = `${url.origin}/`
    const client = Transport.sealed(yield* HttpClient.HttpClient, { isAllowed: (url) => url === origin })
    const request = HttpClientRequest.head(origin, { headers: { "cache-control": "no-cache" } })
    const sentAt = yield* Clock.currentTimeMillis
    const response = yield* client.execute(request).pipe(
      Effect.tap(({ arrayBuffer }) => Effect.ignore(arrayBuffer)),
      Effect.map(({ headers }) => Date.parse(headers["date"] ?? "")),
      Effect.mapError(Transport.reason),
      within(timeLimit, () => "Timeout" as const),
      Effect.either
    )
    const receivedAt = yield* Clock.currentTimeMillis
    if (Either.isLeft(response)) {
      return unknown(`not compared: ${role} did not respond to a HEAD: ${reasons[response.left]}`)
    }
    if (Number.isNaN(response.right)) return unknown(`not compared: ${role} sent no date`)
    const ahead = aheadBy({ date: response.right, sentAt, receivedAt })
    const difference = Math.abs(ahead)
    if (difference === 0) return ok(`agrees with ${role}`, undefined)
    const detail = `${length(difference)} ${ahead > 0 ? "ahead of" : "behind"} ${role}`
    const advice = `Synchronize the clock of this machine (NTP): it shows ${instant(receivedAt)}, and ${role} ` +
      `shows ${instant(response.right)}.`
    return difference > wrong
      ? yield* failed(detail, advice)
      : difference > suspicious
      ? warning(detail, advice, undefined)
      : ok(detail, undefined)
  }
)
