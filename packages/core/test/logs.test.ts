import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { failures } from "./support/fakeEndpoint.ts"
import {
  type Action,
  fail,
  get,
  log,
  many,
  recover,
  reject,
  requests,
  type Step,
  timeline
} from "./support/timeline.ts"

const where = "from https://v2.example/oauth2/token (test)"

/** The lines since the last look, without their details. */
const headlines: Action = {
  what: "the log, without details",
  look: (supply) =>
    Effect.map(log.look(supply), (lines) => lines.map((line) => line.replace(/ (The token endpoint|from) .*/, "")))
}
/** Calls between these seconds. */
const calls = (from: number, to: number, step: number) =>
  Array.from({ length: (to - from) / step }, (_, call): Step => [`${from + call * step} s`, get])

const obtained = "DEBUG An access token was obtained"
const noToken = "ERROR There is no valid access token, and calls that need one fail."
const kept = "An access token could not be renewed; the current token remains in use."

describe("the log of the supply", () => {
  it.scoped("has one line for each token, and none for a call", () =>
    timeline([
      ["0 s", many(5, get)],
      ["1 s", many(5, get)],
      ["48 min", many(5, get)],
      ["49 min", many(5, get)],
      ["49 min", log, [
        `DEBUG An access token was obtained ${where}. It expires at 1970-01-01T01:00:00.000Z.`,
        `DEBUG An access token was renewed ${where}. It expires at 1970-01-01T01:48:00.000Z.`
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
        `INFO An access token was obtained ${where}, after 3 failed requests since 1970-01-01T00:00:00.100Z. ` +
        "It expires at 1970-01-01T01:01:00.000Z."
      ]]
    ]))

  for (
    const [name, line] of [
      ["refused", "ERROR Token requests are refused; the current token remains in use."],
      ["outside", `ERROR ${kept}`],
      ["tls", `ERROR ${kept}`],
      ["unavailable", `WARN ${kept}`]
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
      ["2 min", headlines, [noToken, "INFO An access token was obtained"]],
      ["2 h", fail(failures.unavailable)],
      ["2 h", get],
      ["2 h 1 min", headlines, [noToken]]
    ]))

  it.scoped("has one line for each streak of failed renewals", () =>
    timeline([
      ["0 s", get],
      ["48 min", fail(failures.unavailable)],
      ...calls(2_880, 3_060, 30),
      ["51 min", headlines, [obtained, `WARN ${kept}`]],
      ["51 min", recover],
      ["53 min", get],
      ["54 min", headlines, ["INFO An access token was renewed"]],
      ["102 min", fail(failures.unavailable)],
      ["102 min", get],
      ["103 min", headlines, [`WARN ${kept}`]]
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
      ["8 min", headlines, ["INFO An access token was obtained"]],
      ["57 min", fail(failures.refused)],
      ["57 min", get],
      ["58 min", headlines, ["ERROR Token requests are refused; the current token remains in use."]]
    ]))

  it.scoped("has one line when a renewal is forced, at most one in 30 s, and says whether it follows another within ten minutes", () =>
    timeline([
      ["0 s", get],
      ["0.1 s", many(5, reject("token-1"))],
      ["1 s", log, [
        `DEBUG An access token was obtained ${where}. It expires at 1970-01-01T01:00:00.000Z.`,
        `WARN The API rejected the access token ${where}. Another token is requested.`,
        `DEBUG An access token was renewed ${where}. It expires at 1970-01-01T01:00:00.100Z.`
      ]],
      ["1 s", many(5, reject("token-2"))],
      ["2 s", log, []],
      ["2 min", reject("token-2")],
      ["2 min 1 s", log, [
        `WARN The API rejected the access token ${where} again. The last token for this reason was requested at ` +
        "1970-01-01T00:00:00.100Z. Another token is requested. If only some paths return 401, ask the operator to authorize " +
        "this client for them. If all paths do, ask why the API rejects new tokens.",
        `DEBUG An access token was renewed ${where}. It expires at 1970-01-01T01:02:00.000Z.`
      ]],
      ["20 min", many(2, reject("token-2"))],
      ["20 min", reject("token-3")],
      ["20 min", headlines, ["WARN The API rejected the access token"]]
    ]))

  it.scoped("has no line for a rejection while a renewal is under way", () =>
    timeline([
      ["0 s", get],
      ["48 min", get],
      ["48 min", reject("token-1")],
      ["49 min", headlines, [obtained, "DEBUG An access token was renewed"]]
    ]))

  it.scoped("names the last forced renewal, even if it has no line", () =>
    timeline([
      ["0 s", get],
      ["0 s", reject("token-1"), undefined, requests(2)],
      ["20 s", reject("token-2"), undefined, requests(3)],
      ["31 s", reject("token-3"), undefined, requests(4)],
      ["32 s", log, [
        `DEBUG An access token was obtained ${where}. It expires at 1970-01-01T01:00:00.000Z.`,
        `WARN The API rejected the access token ${where}. Another token is requested.`,
        `DEBUG An access token was renewed ${where}. It expires at 1970-01-01T01:00:00.000Z.`,
        `DEBUG An access token was renewed ${where}. It expires at 1970-01-01T01:00:20.000Z.`,
        `WARN The API rejected the access token ${where} again. The last token for this reason was requested at ` +
        "1970-01-01T00:00:20.000Z. Another token is requested. If only some paths return 401, ask the operator to authorize " +
        "this client for them. If all paths do, ask why the API rejects new tokens.",
        `DEBUG An access token was renewed ${where}. It expires at 1970-01-01T01:00:31.000Z.`
      ]]
    ], { latency: 0, forcedRenewalMillis: 10_000 }))

  it.scoped("has one line in 30 s for forced renewals that fail", () =>
    timeline([
      ["0 s", get],
      ["1 s", fail(failures.unavailable)],
      ...Array.from({ length: 29 }, (_, second): Step => [`${second + 1} s`, reject("token-1")]),
      ["30 s", headlines, [
        obtained,
        "WARN The API rejected the access token",
        "WARN An access token could not be renewed; the token that the API rejected remains in use."
      ]]
    ]))
})
