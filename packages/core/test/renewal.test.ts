import { describe, it } from "@effect/vitest"
import { failures, token } from "./support/fakeEndpoint.ts"
import {
  caller,
  fail,
  get,
  hang,
  lastFailure,
  many,
  nextRequestAt,
  phase,
  recover,
  reject,
  requests,
  setWall,
  timeline
} from "./support/timeline.ts"

describe("renewal before expiry", () => {
  it.scoped("a token is reused until its renewal is due", () =>
    timeline([
      ["0 s", get, "waits", requests(1)],
      ["100 ms", caller(1), "token-1"],
      ["47 min 59.999 s", get, "token-1", requests(1)]
    ]))

  it.scoped("a due token is renewed in the background when a caller requests a token, and callers keep the valid token", () =>
    timeline([
      ["0 s", get],
      ["48 min", get, "token-1", requests(2)],
      ["48 min 99 ms", get, "token-1"],
      ["48 min 100 ms", get, "token-2", requests(2)]
    ]))

  for (const [random, share, due] of [[0, 75, 2_700], [0.5, 82.5, 2_970], [0.8, 87, 3_132]] as const) {
    it.scoped(`the point of renewal is drawn once for each token, from Effect's Random: ${share} % for ${random}`, () =>
      timeline([
        ["0 s", get],
        ["100 ms", nextRequestAt, due],
        ["44 min 59.999 s", get, "token-1", requests(1)],
        ["44 min 59.999 s", nextRequestAt, due]
      ], { random, settings: { renewalWindow: undefined } }))
  }

  it.scoped("an idle program sends no request", () =>
    timeline([
      ["0 s", get],
      ["240 h", phase, "Expired", requests(1)]
    ]))

  it.scoped("a token with a lifetime shorter than any window is renewed at a share of its lifetime, not on every call", () =>
    timeline([
      ["0 ms", get],
      ["799 ms", get, "token-1", requests(1)],
      ["800 ms", get, "token-1", requests(2)],
      ["1599 ms", get, "token-2", requests(2)],
      ["1600 ms", get, "token-2", requests(3)]
    ], { lifetime: "1 second", latency: "1 millis" }))
})

describe("a token that is about to expire", () => {
  it.scoped("callers wait for the renewal of a token with at most 5 s left", () =>
    timeline([
      ["0 s", get],
      ["59 min 54.999 s", phase, "Due"],
      ["59 min 55 s", get, "waits", requests(2)],
      ["59 min 55.1 s", caller(2), "token-2"]
    ]))

  it.scoped("callers do not wait for the renewal of a token with more than 5 s left", () =>
    timeline([
      ["0 s", get],
      ["59 min 54.999 s", get, "token-1", requests(2)]
    ]))

  it.scoped("when the renewal of an expiring token fails, callers get the valid token until its last millisecond", () =>
    timeline([
      ["0 s", get],
      ["59 min", fail(failures.unavailable)],
      ["59 min 59 s", get, "waits"],
      ["59 min 59.1 s", caller(2), "token-1"],
      ["59 min 59.499 s", get, "token-1"],
      ["59 min 59.999 s", get, "token-1"],
      ["1 h", get, "ServerError"]
    ]))

  it.scoped("when the renewal of an expiring token hangs, callers get the valid token after half of its remaining lifetime", () =>
    timeline([
      ["0 s", get],
      ["1 s", hang],
      ["59 min 56 s", get, "waits"],
      ["59 min 57.999 s", caller(2), "waits"],
      ["59 min 58 s", caller(2), "token-1", requests(2)]
    ]))

  it.scoped("callers wait only in the last tenth of the lifetime, and renewal is due before that", () =>
    timeline([
      ["0 s", get],
      ["1699 ms", get, "token-1", requests(1)],
      ["1699 ms", hang],
      ["1700 ms", get, "token-1", requests(2)],
      ["1799 ms", get, "token-1"],
      ["1800 ms", get, "waits"]
    ], { lifetime: "2 seconds", settings: { renewalWindow: { from: 1, to: 1 } } }))
})

describe("the life of a token that was requested before the supply got it", () => {
  it.scoped("the life of a token counts from its own requestedAt and expiresAt", () =>
    timeline([
      ["0 s", get, "token-1"],
      ["29 min 59.999 s", phase, "Valid"],
      ["30 min", phase, "Due"], // at 80 % of its whole life
      ["49 min 55 s", phase, "Expiring"],
      ["50 min", phase, "Expired", requests(1)]
    ], { latency: 0, grant: (text) => token(text, "50 minutes", { age: "50 minutes" }) }))

  it.scoped("a slow token endpoint does not extend the life of a token", () =>
    timeline([
      ["0 s", get],
      ["59.999 s", phase, "Expiring"],
      ["60 s", phase, "Expired", requests(1)]
    ], { latency: "9 seconds", lifetime: "1 minute" }))

  it.scoped("a token that has expired on arrival is a retryable failure, and is not requested by every caller", () =>
    timeline([
      ["0 s", get, "waits"],
      ["3 s", caller(1), "InvalidResponse", requests(3)],
      ["3 s", many(100, get), "InvalidResponse", requests(3)],
      ["3 s", lastFailure(({ retryable }) => retryable), true]
    ], { latency: 0, grant: (text) => token(text, 0, { age: "2 minutes" }) }))
})

describe("wall clock and monotonic clock", () => {
  const day = { lifetime: "24 hours" } as const

  it.scoped("after a machine was suspended, callers wait no longer than the token is valid by the wall clock", () =>
    timeline([
      ["0 s", get],
      ["1 s", hang],
      ["1 s", setWall("59 min 55 s")],
      ["1 s", get, "waits"],
      // half of what the wall clock leaves, and not half an hour
      ["2.999 s", caller(2), "waits"],
      ["3 s", caller(2), "token-1"]
    ]))

  it.scoped("a clock that jumps ahead by a day causes one renewal, and the jump back causes none", () =>
    timeline([
      ["0 s", get],
      ["1 s", setWall("24 h")],
      ["1 s", get, "waits"],
      ["2 s", caller(2), "token-2"],
      ["2 s", setWall("-24 h")],
      ["10 h", get, "token-2"],
      ["19 h", get, "token-2", requests(2)]
    ], day))

  it.scoped("after a clock jumps back by a day, a token is not used past its true lifetime", () =>
    timeline([
      ["0 s", get],
      ["1 s", setWall("-24 h")],
      ["19 h", get, "token-1", requests(1)],
      ["24 h", get, "waits", requests(2)],
      ["24 h 1 s", caller(3), "token-2"]
    ], day))

  it.scoped("a process that was suspended past the expiry does not send the expired token", () =>
    timeline([
      ["0 s", get],
      ["1 s", setWall("25 h")],
      ["1 s", get, "waits"],
      ["2 s", caller(2), "token-2"]
    ], day))

  it.scoped("a clock that jumps back does not lengthen the pause after a failure, and a jump ahead ends the pause", () =>
    timeline([
      ["0 s", fail(failures.refused)],
      ["0 s", get],
      ["1 s", setWall("-24 h")],
      ["30.099 s", get, "InvalidClient", requests(1)],
      ["30.1 s", get, "waits", requests(2)],
      ["31 s", setWall("30 s")],
      ["31 s", recover],
      ["31 s", get, "waits"],
      ["32 s", caller(4), "token-3"]
    ]))

  it.scoped("a clock that jumps back does not lengthen the limit on forced renewals", () =>
    timeline([
      ["0 s", get],
      ["1 s", reject("token-1")],
      ["2 s", get, "token-2", requests(2)],
      ["2 s", setWall("-24 h")],
      ["31 s", reject("token-2")],
      ["32 s", get, "token-3"]
    ]))
})
