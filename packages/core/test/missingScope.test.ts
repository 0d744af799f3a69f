import { printed } from "@credit-data/test-support/printed"
import { describe, it } from "@effect/vitest"
import * as Lines from "../src/internal/logLines.ts"
import { failures, token } from "./support/fakeEndpoint.ts"
import { until } from "./support/headlines.ts"
import {
  fail,
  get,
  log,
  missScope,
  refresh,
  reject,
  requests,
  respond,
  status,
  type Step,
  timeline,
  unseen
} from "./support/timeline.ts"

const both = ["data-access:all", "furnishment:all"] as const
const missing = status(({ missingScopes }) => missingScopes)
const needed = missScope("furnishment:all")
const grants = (scopes: ReadonlyArray<string>) => respond((text) => token(text, "24 hours", { scopes }))

/** A supply that requests two scopes, of which one is granted. */
const shortGrant = (steps: ReadonlyArray<Step>) => timeline(steps, { scopes: both, lifetime: "24 hours", latency: 0 })

const where = "https://v2.example/oauth2/token (test)"

describe("a scope that was requested and not granted", () => {
  it.scoped("a missing scope is listed in the status, and logged once until it is granted again", () => {
    const at = (day: string) => until(`1970-01-${day}.000Z`)
    const renewed = (day: string) => printed(Lines.renewed(where, at(day), undefined))
    return shortGrant([
      ["0 s", missing, []],
      ["0 s", get],
      ["0 s", missing, ["furnishment:all"]],
      ["0 s", log, [
        printed(Lines.obtained(where, at("02T00:00:00"), undefined)),
        printed(Lines.scopesMissing(where, ["furnishment:all"]))
      ]],
      ["20 h", get],
      ["20 h", log, [renewed("02T20:00:00")]],
      ["21 h", grants(both)],
      ["21 h", needed],
      ["21 h", log, [
        renewed("02T21:00:00"),
        printed(Lines.scopesGranted(where, ["furnishment:all"]))
      ]],
      ["22 h", grants(["furnishment:all"])],
      ["22 h", refresh],
      ["22 h", log, [
        renewed("02T22:00:00"),
        printed(Lines.scopesMissing(where, ["data-access:all"]))
      ]]
    ])
  })

  it.scoped("while calls need a missing scope, a token is requested for it in the background every 5 minutes", () =>
    shortGrant([
      ["0 s", get],
      ...Array.from({ length: 30 }, (_, minute): ReadonlyArray<Step> => [
        [`${minute} min`, needed],
        [`${minute} min`, needed, unseen, requests(1 + Math.floor(minute / 5))]
      ]).flat()
    ]))

  it.scoped("the report of a missing scope returns the instant of the next token request for the scope", () =>
    shortGrant([
      ["0 s", get],
      ["0 s", needed, 300],
      ["5 min", fail(failures.refused)],
      ["5 min", needed, 600],
      ["5 min", needed, 330] // a failure is remembered, and its pause comes first
    ]))

  it.scoped("a scope that is granted later is used, and nothing is requested for it any more", () =>
    shortGrant([
      ["0 s", get],
      ["5 min", grants(both)],
      ["5 min", needed, unseen, requests(2)],
      ["5 min", get, "token-2"],
      ["5 min", missing, []],
      ["15 min", needed, unseen, requests(2)]
    ]))

  it.scoped("missing scopes and rejected tokens have separate limits for renewals", () =>
    shortGrant([
      ["0 s", get],
      ["0 s", reject("token-1"), unseen, requests(2)],
      ["5 min", needed, unseen, requests(3)],
      ["5 min", reject("token-3"), unseen, requests(4)]
    ]))

  it.scoped("a failed renewal for a missing scope keeps the current token", () =>
    shortGrant([
      ["0 s", get],
      ["5 min", fail(failures.refused)],
      ["5 min", needed, unseen, requests(2)],
      ["5 min", get, "token-1"]
    ]))

  it.scoped("a missing scope that is reported without a token sends no request", () =>
    shortGrant([
      ["0 s", needed, unseen, requests(0)]
    ]))
})
