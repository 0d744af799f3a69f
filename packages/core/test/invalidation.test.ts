import { describe, it } from "@effect/vitest"
import { failures, token } from "./support/fakeEndpoint.ts"
import {
  caller,
  fail,
  get,
  hang,
  isRejected,
  isUsable,
  many,
  missScope,
  nextRequestAt,
  phase,
  recover,
  refresh,
  reject,
  replace,
  requests,
  respond,
  type Step,
  timeline,
  unseen
} from "./support/timeline.ts"

/** A supply that holds two tokens: token-1 since the beginning, and token-2 since its renewal. */
const renewed: ReadonlyArray<Step> = [
  ["0 s", get],
  ["48 min", get, "token-1", requests(2)],
  ["48 min 1 s", get, "token-2"]
]

describe("the token in use", () => {
  it.scoped("is the newer one until the API rejects it, and then the older one", () =>
    timeline([
      ...renewed,
      ["49 min", reject("token-2")],
      ["49 min", get, "token-1"],
      ["49 min", isRejected, false, requests(2)]
    ]))

  it.scoped("is the one whose rejection is longer ago if the API rejected both", () =>
    timeline([
      ...renewed,
      ["49 min", hang],
      ["49 min", reject("token-1")],
      ["49 min", get, "token-2"],
      ["49 min 1 s", reject("token-2")],
      ["49 min 1 s", isRejected, true, requests(3)],
      ["49 min 1 s", get, "token-1"],
      ["49 min 2 s", reject("token-1")],
      ["49 min 2 s", get, "token-2", requests(3)] // without waiting for the renewal
    ]))

  it.scoped("is not the older one in its last seconds, when callers would have to wait for its renewal", () =>
    timeline([
      ...renewed,
      ["59 min 54.999 s", reject("token-2")],
      ["59 min 54.999 s", get, "token-1", requests(2)],
      ["59 min 55 s", get, "token-2", requests(2)],
      ["59 min 55 s", reject("token-2"), unseen, requests(3)] // the only one that is held
    ]))

  it.scoped("is not affected by a rejection of a token that is not held", () =>
    timeline([
      ...renewed,
      ["49 min", reject("from elsewhere")],
      ["49 min", get, "token-2"],
      ["1 h 10 min", reject("token-1")],
      ["1 h 10 min", get, "token-2"],
      ["1 h 10 min", isRejected, false, requests(2)]
    ]))

  it.scoped("is the older one after the newer one has expired first, and its renewal is due", () =>
    timeline([
      ["0 s", get],
      ["48 min", respond((text) => token(text, "1 minute"))],
      ["48 min", get],
      ["48 min 1 s", get, "token-2"],
      ["48 min 2 s", fail(failures.refused)],
      ["49 min 0.1 s", get, "token-1", requests(3)],
      ["49 min 1 s", phase, "Due"],
      ["49 min 1 s", isUsable, true]
    ]))
})

describe("the older token", () => {
  it.scoped("is the one that was in use when the newer one arrived, without its rejection if the renewal was due", () =>
    timeline([
      ["0 s", get],
      ["1 s", hang],
      ["1 s", reject("token-1"), unseen, requests(2)],
      ["11 s", recover],
      ["48 min", get, "token-1", requests(3)],
      ["48 min 1 s", reject("token-3")],
      ["48 min 1 s", get, "token-1"],
      ["48 min 1 s", isRejected, false, requests(3)]
    ]))

  it.scoped("keeps its rejection if the renewal was forced", () =>
    timeline([
      ["0 s", get],
      ["1 s", reject("token-1")],
      ["1.1 s", get, "token-2"],
      ["2 s", reject("token-2")],
      ["2 s", isRejected, true],
      ["2 s", get, "token-1", requests(2)]
    ]))

  it.scoped("is the token that was in use, even if that was not the newest but one", () =>
    timeline([
      ...renewed,
      ["49 min", reject("token-1")],
      ["49 min 1 s", reject("token-2")],
      ["49 min 1 s", get, "token-1", requests(3)],
      ["49 min 2 s", reject("token-3")],
      ["49 min 2 s", get, "token-1", requests(3)]
    ]))

  it.scoped("is the newest but one", () =>
    timeline([
      ...renewed,
      ["1 h 36 min", get, "token-2", requests(3)],
      ["1 h 36 min 1 s", reject("token-3")],
      ["1 h 36 min 1 s", get, "token-2"]
    ]))

  for (
    const [when, ...steps] of [
      ["a refresh", ["48 min", refresh]],
      ["a renewal that a refresh has joined", ["48 min", get], ["48 min", refresh]],
      ["a renewal for a missing scope", ["48 min", missScope("furnishment:all")]]
    ] satisfies ReadonlyArray<readonly [string, ...ReadonlyArray<Step>]>
  ) {
    it.scoped(`does not exist after ${when}`, () =>
      timeline([
        ["0 s", get],
        ...steps,
        ["48 min 1 s", reject("token-2"), unseen, requests(3)],
        ["48 min 1 s", get, "token-2"]
      ], { grant: (text) => token(text, "1 hour", { scopes: ["data-access:all"] }) }))
  }

  it.scoped("does not exist if the newer one covers a requested scope that it lacks", () =>
    timeline([
      ["0 s", get],
      ["48 min", respond((text) => token(text, "1 hour", { scopes: ["data-access:all", "furnishment:all"] }))],
      ["48 min", get],
      ["48 min 1 s", reject("token-2"), unseen, requests(3)]
    ], { scopes: ["data-access:all", "furnishment:all"] }))

  it.scoped("exists if both lack a requested scope", () =>
    timeline([
      ...renewed,
      ["49 min", reject("token-2")],
      ["49 min", get, "token-1", requests(2)]
    ], { scopes: ["data-access:all", "furnishment:all"] }))
})

describe("a forced renewal", () => {
  it.scoped("begins when the API has rejected every token that is held, even without another caller, and get does not wait", () =>
    timeline([
      ["0 s", get],
      ["1 s", reject("token-1"), unseen, requests(2)],
      ["1 s", isRejected, true],
      ["1 s", get, "token-1"],
      ["1.1 s", get, "token-2", requests(2)],
      ["1.1 s", isRejected, false]
    ]))

  it.scoped("is one for 100 callers at once and late callers", () =>
    timeline([
      ["0 s", get],
      ["1 s", many(50, reject("token-1"))],
      ["1 s", many(50, get), "token-1"],
      ["1 s", many(50, replace("token-1")), "waits", requests(2)],
      ["1.1 s", many(100, get), "token-2"],
      ["1.1 s", replace("token-1"), "token-2"],
      ["2 s", reject("token-1")],
      ["2 s", get, "token-2", requests(2)]
    ]))

  it.scoped("begins at most once in 30 s, even if calls succeed in between", () =>
    timeline([
      ["0 s", get],
      ["1 s", reject("token-1"), unseen, requests(2)],
      ["30.999 s", reject("token-2")],
      ["30.999 s", nextRequestAt, 31],
      ["30.999 s", phase, "Valid"],
      ["30.999 s", replace("token-2", "token-1"), "token-2"], // the 401 is the caller's
      ["31 s", get, "token-1", requests(2)], // an earlier rejection does not force it
      ["31 s", reject("from elsewhere"), unseen, requests(2)],
      ["31 s", replace("token-2", "token-1"), "waits", requests(3)],
      ["31.1 s", caller(4), "token-3"]
    ]))

  it.scoped("begins at most once in its pause", () =>
    timeline([
      ["0 s", get],
      ["1 s", reject("token-1")],
      ["1.999 s", reject("token-2"), unseen, requests(2)],
      ["2 s", reject("token-2"), unseen, requests(3)]
    ], { forcedRenewalMillis: 1_000 }))

  it.scoped("is the renewal that is under way, and its pause counts from there", () =>
    timeline([
      ["0 s", get],
      ["48 min", get, "token-1", requests(2)],
      ["48 min 50 ms", replace("token-1"), "waits"],
      ["48 min 100 ms", caller(3), "token-2", requests(2)],
      ["48 min 29 s", reject("token-1")],
      ["48 min 29 s", reject("token-2"), unseen, requests(2)],
      ["48 min 30 s", reject("token-2"), unseen, requests(3)]
    ]))

  it.scoped("frees its pause when it fails, and then the pause after failures applies", () =>
    timeline([
      ["0 s", get],
      ["1 s", fail(failures.unavailable)],
      ["1 s", replace("token-1"), "waits", requests(2)],
      ["1.1 s", caller(2), "ServerError"],
      ["1.1 s", get, "token-1"], // without waiting
      ["2 s", replace("token-1"), "ServerError", requests(2)],
      ["2 s", isRejected, true],
      ["2 s", isUsable, true],
      ["2 s", recover],
      ["2.1 s", get, "token-1", requests(2)],
      ["2.1 s", replace("token-1"), "waits", requests(3)],
      ["2.2 s", get, "token-3"]
    ]))

  it.scoped("frees its pause when the renewal fails that counts as it", () =>
    timeline([
      ["0 s", get],
      ["48 min", fail(failures.unavailable)],
      ["48 min", get, "token-1", requests(2)],
      ["48 min 50 ms", reject("token-1")],
      ["48 min 100 ms", recover],
      ["48 min 1.1 s", reject("token-1"), unseen, requests(3)]
    ]))

  it.scoped("keeps its pause when another renewal fails", () =>
    timeline([
      ["0 s", get],
      ["47 min 50 s", reject("token-1"), unseen, requests(2)],
      ["47 min 51 s", reject("token-2")],
      ["47 min 55 s", fail(failures.unavailable)],
      ["47 min 55 s", refresh, "waits", requests(3)],
      ["47 min 58 s", recover],
      ["47 min 58 s", reject("token-2"), unseen, requests(3)],
      ["48 min 20 s", reject("token-2"), unseen, requests(4)]
    ]))

  it.scoped("does not begin while a failure is remembered", () =>
    timeline([
      ["0 s", get],
      ["50 min", fail(failures.refused)],
      ["50 min", get, "token-1", requests(2)],
      ["50 min 1 s", reject("token-1")],
      ["50 min 1 s", replace("token-1"), "InvalidClient"],
      ["50 min 1 s", get, "token-1"],
      ["50 min 2 s", isRejected, true, requests(2)]
    ]))

  it.scoped("that hangs keeps replace until the deadline, and no caller of get", () =>
    timeline([
      ["0 s", get],
      ["1 s", hang],
      ["1 s", replace("token-1"), "waits"],
      ["1 s", get, "token-1"],
      ["11.999 s", caller(2), "waits"],
      ["12 s", caller(2), "Timeout", requests(2)]
    ]))
})

describe("replace", () => {
  it.scoped("returns the token in use, or else the other one, unless the call has tried it", () =>
    timeline([
      ...renewed,
      ["49 min", replace("from elsewhere"), "token-2"],
      ["49 min", replace("token-1"), "token-2"],
      ["49 min 1 s", replace("token-2"), "token-1", requests(3)], // both were rejected
      ["49 min 1 s", replace("token-1", "from elsewhere"), "token-2", requests(3)]
    ]))

  it.scoped("waits for the token request that is under way if the call has tried every token", () =>
    timeline([
      ...renewed,
      ["49 min", reject("token-1")],
      ["49 min", replace("token-2", "token-1"), "waits", requests(3)],
      ["49 min 100 ms", caller(4), "token-3"]
    ]))

  it.scoped("returns the rejected token if the call has tried every token and none is requested", () =>
    timeline([
      ["0 s", get],
      ["1 s", reject("token-1")],
      ["2 s", replace("token-2", "token-1"), "token-2", requests(2)]
    ]))

  it.scoped("returns the first token when there was none, and another one when the rejected one has expired", () =>
    timeline([
      ["0 s", replace("from elsewhere"), "waits"],
      ["1 s", caller(1), "token-1"],
      ["1 s", replace("from elsewhere"), "token-1", requests(1)],
      ["2 h", replace("token-1"), "waits"],
      ["2 h 1 s", caller(3), "token-2", requests(2)]
    ]))
})

describe("a server that returns a token which is held already", () => {
  it.scoped("gets one request every 30 s, and the token remains rejected", () =>
    timeline([
      ["0 s", get],
      ["1 s", replace("the same"), "waits", requests(2)],
      ["1.1 s", caller(2), "the same"],
      ["1.1 s", isRejected, true],
      ["1.1 s", isUsable, true],
      ["30.999 s", replace("the same"), "the same"],
      ["30.999 s", get, "the same", requests(2)],
      ["31 s", replace("the same"), "waits", requests(3)]
    ], { grant: () => token("the same", "1 hour") }))

  it.scoped("does not take the other token out of use", () =>
    timeline([
      ...renewed,
      ["49 min", reject("token-2")],
      ["50 min", respond(() => token("token-2", "1 hour"))],
      ["1 h 36 min", get, "token-2", requests(3)], // the older one has expired
      ["1 h 36 min 1 s", isRejected, true]
    ]))

  it.scoped("keeps the older token's rejection too", () =>
    timeline([
      ...renewed,
      ["49 min", respond(() => token("token-1", "1 hour"))],
      ["49 min", reject("token-1")],
      ["49 min 1 s", reject("token-2"), unseen, requests(3)],
      ["49 min 2 s", isRejected, true]
    ]))
})
