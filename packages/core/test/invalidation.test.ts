import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { failures, token } from "./support/fakeEndpoint.ts"
import {
  accept,
  type Action,
  caller,
  fail,
  get,
  hang,
  isRejected,
  isUsable,
  many,
  missScope,
  phase,
  recover,
  reject,
  rejections,
  replace,
  requests,
  respond,
  type Step,
  timeline
} from "./support/timeline.ts"

describe("invalidation", () => {
  it.scoped("invalidate starts one renewal even without another caller, and the next caller waits for the new token", () =>
    timeline([
      ["0 s", get],
      ["1 s", reject("token-1"), undefined, requests(2)],
      ["1 s", isRejected, true],
      ["1 s", get, "waits"],
      ["1.1 s", caller(2), "token-2", requests(2)],
      ["1.1 s", isRejected, false]
    ]))

  it.scoped("replace returns the first token when there was none, and another token when the rejected one has expired", () =>
    timeline([
      ["0 s", replace("from elsewhere"), "waits"],
      ["1 s", caller(1), "token-1"],
      ["1 s", replace("from elsewhere"), "token-1", requests(1)],
      ["2 h", replace("token-1"), "waits"],
      ["2 h 1 s", caller(3), "token-2", requests(2)]
    ]))

  it.scoped("invalidate does nothing when another token has replaced the rejected one", () =>
    timeline([
      ["0 s", get],
      ["1 s", reject("token-1")],
      ["40 s", reject("token-1")],
      ["40 s", get, "token-2"],
      ["40 s", replace("token-1"), "token-2", requests(2)]
    ]))

  it.scoped("rejections by 100 callers at once, and by late callers, cause one renewal", () =>
    timeline([
      ["0 s", get],
      ["1 s", many(50, reject("token-1"))],
      ["1 s", many(50, get), "waits"],
      ["1 s", many(50, replace("token-1")), "waits", requests(2)],
      ["1.1 s", many(100, get), "token-2"],
      ["1.1 s", replace("token-1"), "token-2"],
      ["2 s", reject("token-1")],
      ["2 s", get, "token-2", requests(2)]
    ]))

  it.scoped("a rejection within 30 s of a replacement replaces nothing, and the next one after that does", () =>
    timeline([
      ["0 s", get],
      ["1 s", reject("token-1")],
      ["30.999 s", reject("token-2")],
      ["30.999 s", phase, "Valid"],
      ["30.999 s", isRejected, false],
      ["30.999 s", replace("token-2"), "token-2"], // the 401 is the caller's
      ["31 s", get, "token-2", requests(2)], // an earlier rejection does not replace it
      ["31 s", replace("token-2"), "waits", requests(3)],
      ["31.1 s", caller(4), "token-3"]
    ]))

  it.scoped("forcedRenewalPause sets the time between two renewals of rejected tokens", () =>
    timeline([
      ["0 s", get],
      ["1 s", reject("token-1")],
      ["1.999 s", reject("token-2"), undefined, requests(2)],
      ["2 s", reject("token-2"), undefined, requests(3)]
    ], { settings: { forcedRenewalPause: "1 second" } }))

  it.scoped("a rejected token that another process requested long ago is replaced at once, though one was replaced just now", () =>
    timeline([
      ["0 s", get, "token-1"],
      ["0 s", reject("token-1")],
      ["0 s", get, "token-2"],
      ["0 s", reject("token-2")],
      ["0 s", get, "token-3"]
    ], { latency: 0, grant: (text) => token(text, "5 hours", { age: "30 minutes" }) }))

  it.scoped("a token that is rejected during its renewal is replaced by that renewal", () =>
    timeline([
      ["0 s", get],
      ["50 min", get, "token-1", requests(2)],
      ["50 min", reject("token-1")],
      ["50 min", get, "waits"],
      ["50 min 100 ms", caller(3), "token-2", requests(2)]
    ]))

  it.scoped("a renewal that returns the rejected token again counts as its replacement", () =>
    timeline([
      ["0 s", get],
      ["50 min", respond(() => token("token-1", "1 hour"))],
      ["50 min", get],
      ["50 min", replace("token-1"), "waits"],
      ["50 min", get, "waits"],
      ["50 min 200 ms", caller(3), "token-1"],
      ["50 min 200 ms", caller(4), "token-1", requests(2)] // it may still work for other calls
    ]))

  it.scoped("a server that keeps returning the rejected token gets one request every 30 s, and callers keep the token", () =>
    timeline([
      ["0 s", get],
      ["1 s", replace("the same"), "waits", requests(2)],
      ["1.1 s", caller(2), "the same"],
      ["30.999 s", replace("the same"), "the same"],
      ["30.999 s", get, "the same", requests(2)],
      ["31 s", replace("the same"), "waits", requests(3)]
    ], { grant: () => token("the same", "1 hour") }))

  it.scoped("a rejected token whose renewal fails remains in use, and replace fails with the failure", () =>
    timeline([
      ["0 s", get],
      ["1 s", fail(failures.refused)],
      ["1 s", replace("token-1"), "waits"],
      ["1 s", get, "waits"],
      ["1.1 s", caller(2), "InvalidClient"],
      ["1.1 s", caller(3), "token-1"],
      ["2 s", get, "token-1"], // without waiting, while the failure is remembered
      ["2 s", replace("token-1"), "InvalidClient", requests(2)],
      ["2 s", isRejected, true],
      ["2 s", recover],
      ["32 s", get, "waits", requests(3)],
      ["32.1 s", caller(6), "token-3"]
    ]))

  it.scoped("invalidate sends no request while a failure is remembered", () =>
    timeline([
      ["0 s", get],
      ["50 min", fail(failures.refused)],
      ["50 min", get, "token-1", requests(2)],
      ["50 min 1 s", reject("token-1")],
      ["50 min 1 s", replace("token-1"), "InvalidClient"],
      ["50 min 1 s", get, "token-1"],
      ["50 min 2 s", isRejected, true, requests(2)]
    ]))

  it.scoped("when the renewal of a rejected token hangs, get waits for 2.5 s, and replace until the deadline", () =>
    timeline([
      ["0 s", get],
      ["1 s", hang],
      ["1 s", replace("token-1"), "waits"],
      ["1 s", get, "waits"],
      ["3.499 s", caller(3), "waits"],
      ["3.5 s", caller(3), "token-1"],
      ["11.999 s", caller(2), "waits"],
      ["12 s", caller(2), "Timeout", requests(2)]
    ]))

  it.scoped("get waits at most half of the remaining lifetime of a rejected token", () =>
    timeline([
      ["0 s", get],
      ["58 s", hang],
      ["58 s", reject("token-1")],
      ["58 s", get, "waits"],
      ["58.999 s", caller(2), "waits"],
      ["59 s", caller(2), "token-1"]
    ], { lifetime: "1 minute" }))
})

describe("a supply whose tokens the API rejects", () => {
  /** A call whose token the API rejects, and whose replacement it rejects too. */
  const rejectedCall: Action = {
    what: "a call is rejected twice",
    run: ({ tokens }) =>
      Effect.gen(function*() {
        const first = yield* tokens.get
        const second = yield* tokens.replace(first)
        if (second !== first) yield* tokens.invalidate(second)
      }).pipe(Effect.orDie)
  }
  const acceptedCall: Action = {
    what: "a call succeeds",
    run: ({ tokens }) =>
      Effect.flatMap(Effect.orDie(tokens.get), (token) => tokens.reports?.accepted(token) ?? Effect.void)
  }
  const everyFiveSeconds = (upTo: number, ...actions: ReadonlyArray<readonly [Action, unknown?]>) =>
    Array.from(
      { length: upTo / 5 },
      (_, step) => actions.map(([action, result]): Step => [`${step * 5} s`, action, result])
    ).flat()

  it.scoped("counts a token once if it is rejected before any call has succeeded with it, and is unusable from the second on", () =>
    timeline([
      ["0 s", get],
      ["1 s", replace("token-1")],
      ["2 s", rejections, 1],
      ["2 s", isUsable, true],
      ["2 s", many(5, reject("token-2"))],
      ["2 s", rejections, 2],
      ["2 s", isUsable, false]
    ]))

  it.scoped("does not count a token with which a call has succeeded", () => {
    const isUnproven: Action = {
      what: "whether no call has succeeded with the token",
      look: ({ tokens }) => Effect.map(Effect.orDie(tokens.get), (token) => tokens.reports?.isUnproven(token))
    }
    return timeline(
      Array.from({ length: 5 }, (_, minute) => minute).flatMap((minute): ReadonlyArray<Step> => [
        [`${minute} min`, get],
        [`${minute} min 1 s`, isUnproven, true],
        [`${minute} min 1 s`, accept(`token-${minute + 1}`)],
        [`${minute} min 1 s`, isUnproven, false],
        [`${minute} min 1 s`, replace(`token-${minute + 1}`), "waits", requests(minute + 2)],
        [`${minute} min 2 s`, rejections, 0]
      ])
    )
  })

  it.scoped("is usable again with the first call that succeeds", () =>
    timeline([
      ["0 s", get],
      ["1 s", replace("token-1")],
      ["2 s", reject("token-2")],
      ["30 min", isUsable, false], // nothing has shown the opposite
      ["30 min", accept("token-1")],
      ["30 min", isUsable, false], // that is another token
      ["30 min", accept("token-2")],
      ["30 min", isUsable, true],
      ["30 min", rejections, 0]
    ]))

  it.scoped("requests one token every 30 s if the API rejects every token", () =>
    timeline([
      ...everyFiveSeconds(600, [rejectedCall], [isUsable, false]),
      ["599 s", rejections, 21, requests(21)]
    ], { latency: 0 }))

  it.scoped("is not disturbed by one path that rejects every token", () =>
    timeline([
      ["0 s", acceptedCall],
      ...everyFiveSeconds(300, [rejectedCall], [isUsable, true], [acceptedCall], [rejections, 0]),
      ["299 s", isRejected, false, requests(11)]
    ], { latency: 0 }))

  it.scoped("does not replace a token that works because an earlier call was rejected", () =>
    timeline([
      ["0 s", get],
      ["1 s", accept("token-1")],
      ["1 s", fail(failures.refused)],
      ["1 s", reject("token-1")],
      ["2 s", isRejected, true], // its replacement failed
      ["2 s", accept("token-1")],
      ["2 s", isRejected, false],
      ["2 s", recover],
      ["2 min", get, "token-1", requests(2)]
    ]))

  it.scoped("is not usable while its token lacks all requested scopes", () =>
    timeline([
      ["0 s", isUsable, true], // before the first token, nothing is known
      ["0 s", respond((text) => token(text, "1 hour", { scopes: ["another:scope"] }))],
      ["0 s", get],
      ["1 s", isUsable, false],
      ["1 s", recover],
      ["5 min 1 s", missScope("data-access:all")],
      ["5 min 2 s", isUsable, true]
    ]))
})
