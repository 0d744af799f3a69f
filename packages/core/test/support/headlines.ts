import { AccessToken } from "@credit-data/core"
import { beginning } from "@credit-data/test-support/printed"
import { DateTime, Effect, Redacted } from "effect"
import type * as Instant from "../../src/internal/instant.ts"
import * as Lines from "../../src/internal/logLines.ts"
import { type Action, log } from "./timeline.ts"

export const instant = (time: string): Instant.Instant => ({ wallMillis: Date.parse(time), monotonicNanos: 0n })

export const until = (expiresAt: string) =>
  new AccessToken.AccessToken({
    secret: Redacted.make("token"),
    scopes: [],
    requestedAt: DateTime.unsafeMake(0),
    expiresAt: DateTime.unsafeMake(expiresAt)
  })

const [some, streak, message] = [until("1970-01-01T01:00:00.000Z"), { failures: 1, since: instant("1970-01-01") }, "…"]
export const obtained = beginning(Lines.obtained("…", some, undefined))
export const renewed = beginning(Lines.renewed("…", some, undefined))
export const obtainedAgain = beginning(Lines.obtained("…", some, streak))
export const renewedAgain = beginning(Lines.renewed("…", some, streak))
export const noToken = beginning(Lines.noToken({ message }))
export const refused = beginning(Lines.refused({ message }, "current token"))
export const notRenewed = (retryable: boolean, remaining = "current token") =>
  beginning(Lines.notRenewed({ message, retryable }, remaining))
export const rejected = beginning(Lines.rejected("…", undefined))

const known = [
  obtained,
  renewed,
  obtainedAgain,
  renewedAgain,
  noToken,
  refused,
  notRenewed(true),
  notRenewed(false),
  notRenewed(true, "token that the API rejected"),
  rejected
]

/** The lines since the last look, without their details. */
export const headlines: Action = {
  what: "the log, without details",
  look: (supply) =>
    Effect.map(
      log.look(supply),
      (lines) => lines.map((line) => known.find((beginning) => line.startsWith(beginning)) ?? line)
    )
}
