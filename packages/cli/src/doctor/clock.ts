import * as Clock from "effect/Clock"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import { type Finding, instant, length, ok, skipped, warning } from "./step.ts"

const suspicious = 30_000

/** A response, with the times of this machine. */
export interface Timed {
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly sentAt: number
  readonly receivedAt: number
}

/** The client, which reports each response. */
export const timed = (client: HttpClient.HttpClient, report: (response: Timed) => void): HttpClient.HttpClient =>
  HttpClient.transform(client, (response) =>
    Effect.gen(function*() {
      const sentAt = yield* Clock.currentTimeMillis
      const received = yield* response
      report({ headers: received.headers, sentAt, receivedAt: yield* Clock.currentTimeMillis })
      return received
    }))

/**
 * By how much the local clock is ahead of a server, at least: its `Date` is cut to a second, and was written at some
 * time between the request and the response.
 */
export const aheadBy = (
  times: { readonly date: number; readonly sentAt: number; readonly receivedAt: number }
): number => Math.max(0, times.sentAt - (times.date + 1_000)) - Math.max(0, times.date - times.receivedAt)

/**
 * Compares the local clock with the `Date` of the token endpoint's response. A difference is never more than a warning: a token's life is
 * measured from its request, so a wrong clock does no harm to it.
 */
export const check = (response: Timed | undefined, role: string): Finding => {
  if (response === undefined) return skipped(`not compared: ${role} did not respond`)
  const date = Date.parse(response.headers["date"] ?? "")
  if (Number.isNaN(date)) {
    return warning(
      `not compared: ${role} sent no date`,
      "Compare the clock of this machine with another source, such as `timedatectl`."
    )
  }
  const { receivedAt, sentAt } = response
  const ahead = aheadBy({ date, sentAt, receivedAt })
  const difference = Math.abs(ahead)
  if (difference === 0) return ok(`agrees with ${role}`)
  const detail = `${length(difference)} ${ahead > 0 ? "ahead of" : "behind"} ${role}`
  return difference > suspicious
    ? warning(
      detail,
      `Synchronize the clock of this machine (NTP): it shows ${instant(receivedAt)}, and ${role} shows ${
        instant(date)
      }.`
    )
    : ok(detail)
}
