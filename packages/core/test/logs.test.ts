import { printed } from "@credit-data/test-support/printed"
import { describe, it } from "@effect/vitest"
import * as Lines from "../src/internal/logLines.ts"
import { failures } from "./support/fakeEndpoint.ts"
import {
  headlines,
  instant,
  noToken,
  notRenewed,
  obtained,
  obtainedAgain,
  refused,
  rejected,
  renewed,
  renewedAgain,
  until
} from "./support/headlines.ts"
import { fail, get, log, many, recover, reject, requests, type Step, timeline, unseen } from "./support/timeline.ts"

const where = "https://v2.example/oauth2/token (test)"

const obtainedUntil = (expiresAt: string) => printed(Lines.obtained(where, until(expiresAt), undefined))
const renewedUntil = (expiresAt: string) => printed(Lines.renewed(where, until(expiresAt), undefined))

/** Calls between these seconds. */
const calls = (from: number, to: number, step: number) =>
  Array.from({ length: (to - from) / step }, (_, call): Step => [`${from + call * step} s`, get])

describe("the log of the supply", () => {
  it.scoped("has one line for each token, and none for a call", () =>
    timeline([
      ["0 s", many(5, get)],
      ["1 s", many(5, get)],
      ["48 min", many(5, get)],
      ["49 min", many(5, get)],
      ["49 min", log, [
        obtainedUntil("1970-01-01T01:00:00.000Z"),
        renewedUntil("1970-01-01T01:48:00.000Z")
      ]]
    ]))

  it.scoped("reports after how many failures a token was obtained, and since when they happened", () =>
    timeline([
      ["0 s", fail(failures.unavailable)],
      ["0 s", get],
      ["10 s", headlines, [noToken]],
      ["1 min", recover],
      ["1 min", get],
      ["2 min", log, [
        printed(Lines.obtained(where, until("1970-01-01T01:01:00.000Z"), {
          failures: 3,
          since: instant("1970-01-01T00:00:00.100Z")
        }))
      ]]
    ]))

  for (
    const [name, line] of [
      ["refused", refused],
      ["outside", notRenewed(false)],
      ["tls", notRenewed(false)],
      ["unavailable", notRenewed(true)]
    ] as const
  ) {
    it.scoped(`has one line when the renewal is ${name}, and one when the token has expired`, () =>
      timeline([
        ["0 s", get],
        ["50 min", fail(failures[name])],
        ...calls(3_000, 3_500, 10),
        ["59 min", headlines, [obtained, line]],
        ...calls(3_610, 4_210, 10),
        ["80 min", headlines, [noToken]]
      ]))
  }

  it.scoped("has one line for each time in which there is no token", () =>
    timeline([
      ["0 s", fail(failures.unavailable)],
      ["0 s", get],
      ["1 min", recover],
      ["1 min", get],
      ["2 min", headlines, [noToken, obtainedAgain]],
      ["2 h", fail(failures.unavailable)],
      ["2 h", get],
      ["2 h 1 min", headlines, [noToken]]
    ]))

  it.scoped("has one line for each streak of failed renewals", () =>
    timeline([
      ["0 s", get],
      ["48 min", fail(failures.unavailable)],
      ...calls(2_880, 3_060, 30),
      ["51 min", headlines, [obtained, notRenewed(true)]],
      ["51 min", recover],
      ["53 min", get],
      ["54 min", headlines, [renewedAgain]],
      ["102 min", fail(failures.unavailable)],
      ["102 min", get],
      ["103 min", headlines, [notRenewed(true)]]
    ]))

  it.scoped("has one line for a refusal, until a token is obtained or another failure is remembered", () =>
    timeline([
      ["0 s", fail(failures.refused)],
      ...calls(0, 300, 20),
      ["5 min", headlines, [noToken]],
      ["6 min", fail(failures.outside)],
      ["6 min", get],
      ["7 min", headlines, [noToken]],
      ["7 min", recover],
      ["7 min", get],
      ["8 min", headlines, [obtainedAgain]],
      ["57 min", fail(failures.refused)],
      ["57 min", get],
      ["58 min", headlines, [refused]]
    ]))

  it.scoped("has one line when a renewal is forced, at most one in 30 s, and says whether it follows another within ten minutes", () =>
    timeline([
      ["0 s", get],
      ["0.1 s", many(5, reject("token-1"))],
      ["1 s", log, [
        obtainedUntil("1970-01-01T01:00:00.000Z"),
        printed(Lines.rejected(where, undefined)),
        renewedUntil("1970-01-01T01:00:00.100Z")
      ]],
      ["1 s", many(5, reject("token-2"))],
      ["2 s", log, []],
      ["2 min", reject("token-2")],
      ["2 min 1 s", log, [
        printed(Lines.rejected(where, instant("1970-01-01T00:00:00.100Z"))),
        renewedUntil("1970-01-01T01:02:00.000Z")
      ]],
      ["20 min", many(2, reject("token-2"))],
      ["20 min", reject("token-3")],
      ["20 min", headlines, [rejected]]
    ]))

  it.scoped("has no line for a rejection while a renewal is under way", () =>
    timeline([
      ["0 s", get],
      ["48 min", get],
      ["48 min", reject("token-1")],
      ["49 min", headlines, [obtained, renewed]]
    ]))

  it.scoped("names the last forced renewal, even if it has no line", () =>
    timeline([
      ["0 s", get],
      ["0 s", reject("token-1"), unseen, requests(2)],
      ["20 s", reject("token-2"), unseen, requests(3)],
      ["31 s", reject("token-3"), unseen, requests(4)],
      ["32 s", log, [
        obtainedUntil("1970-01-01T01:00:00.000Z"),
        printed(Lines.rejected(where, undefined)),
        renewedUntil("1970-01-01T01:00:00.000Z"),
        renewedUntil("1970-01-01T01:00:20.000Z"),
        printed(Lines.rejected(where, instant("1970-01-01T00:00:20.000Z"))),
        renewedUntil("1970-01-01T01:00:31.000Z")
      ]]
    ], { latency: 0, forcedRenewalMillis: 10_000 }))

  it.scoped("has one line in 30 s for forced renewals that fail", () =>
    timeline([
      ["0 s", get],
      ["1 s", fail(failures.unavailable)],
      ...Array.from({ length: 29 }, (_, second): Step => [`${second + 1} s`, reject("token-1")]),
      ["30 s", headlines, [
        obtained,
        rejected,
        notRenewed(true, "token that the API rejected")
      ]]
    ]))
})
