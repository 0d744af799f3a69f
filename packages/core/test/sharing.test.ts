import type { TokenEndpoint } from "@credit-data/core"
import { describe, it } from "@effect/vitest"
import { Duration, Effect, Option } from "effect"
import { failures, token } from "./support/fakeEndpoint.ts"
import { headlines, noToken, notRenewed, obtainedAgain } from "./support/headlines.ts"
import {
  type Action,
  caller,
  fail,
  get,
  hang,
  lastFailure,
  many,
  nextRequestAt,
  phase,
  recover,
  refresh,
  reject,
  replace,
  requests,
  type Step,
  timeline,
  unseen
} from "./support/timeline.ts"

type Found = ReturnType<TokenEndpoint.Sharing["find"]>

/** What a search for a token finds. It begins with nothing. */
const makeElsewhere = () => {
  const searches: Array<string> = []
  let found: Found = Effect.succeedNone
  const sharing: TokenEndpoint.Sharing = {
    timeLimit: Duration.seconds(20),
    find: (reason, failure) =>
      Effect.suspend(() => {
        searches.push(`${reason._tag} ${failure?._tag}`)
        return found
      }),
    wasFound: () => false,
    status: Effect.succeed({
      lastUsedAt: Option.none(),
      tokensTaken: 0,
      failuresTaken: 0,
      published: 0,
      faults: 0,
      lastFault: Option.none()
    }),
    listen: () => Effect.void
  }
  return {
    sharing,
    has: (next: Found): Action => ({
      what: "a token appears elsewhere",
      run: () => Effect.sync(() => void (found = next))
    }),
    searches: { what: "the searches since the last look", look: () => Effect.sync(() => searches.splice(0)) }
  }
}

/** The endpoint refuses the client. A search comes at the earliest 0.75 s after the one before. */
const remembering = (elsewhere: ReturnType<typeof makeElsewhere>, steps: ReadonlyArray<Step>) =>
  timeline([
    ["0 s", fail(failures.refused)],
    ["0 s", get, "InvalidClient", requests(1)],
    ...steps
  ], {
    latency: 0,
    random: 0,
    sharing: elsewhere.sharing
  })

describe("a supply that remembers a failure, over an endpoint that shares tokens", () => {
  it.scoped("searches while callers request tokens, together and about once a second, and sends no request", () => {
    const elsewhere = makeElsewhere()
    const search = "Nothing InvalidClient"
    return remembering(elsewhere, [
      ["1 s", many(3, get), "InvalidClient"],
      ["1.7 s", many(3, get), "InvalidClient"],
      ["1.7 s", elsewhere.searches, [search]],
      ["1.75 s", many(3, get), "InvalidClient"],
      ["2.5 s", many(3, get), "InvalidClient"],
      ["2.5 s", elsewhere.searches, [search, search]],
      ["10 s", elsewhere.searches, [], requests(1)]
    ])
  })

  it.scoped("takes what a search finds, and not what has expired", () => {
    const elsewhere = makeElsewhere()
    return remembering(elsewhere, [
      ["1 s", elsewhere.has(Effect.asSome(token("expired", "0 millis")))],
      ["1 s", get, "InvalidClient"],
      ["2 s", elsewhere.has(Effect.asSome(token("found", "1 hour")))],
      ["2 s", get, "found"], // the caller for whom the search began
      ["2 s", phase, "Valid"],
      ["2 s", lastFailure(({ _tag }) => _tag), undefined, requests(1)]
    ])
  })

  it.scoped("sends no request before a Retry-After has passed, although it has taken a token that was then rejected", () => {
    const elsewhere = makeElsewhere()
    return timeline([
      ["0 s", fail(failures.unavailableFor("30 seconds"))],
      ["0 s", get, "ServerError", requests(1)],
      ["1 s", elsewhere.has(Effect.asSome(token("found", "1 hour")))],
      ["1 s", get, "found"],
      ["1 s", lastFailure(({ _tag }) => _tag), undefined],
      ["1 s", elsewhere.has(Effect.succeedNone)],
      ["2 s", recover],
      ["2 s", reject("found")],
      ["29 s", reject("found"), unseen, requests(1)],
      ["30 s", reject("found"), unseen, requests(2)]
    ], { latency: 0, random: 0, sharing: elsewhere.sharing })
  })

  it.scoped("logs a failure after a token that was found, as another one than before", () => {
    const elsewhere = makeElsewhere()
    return timeline([
      ["0 s", fail(failures.unavailableFor("30 seconds"))],
      ["0 s", get, "ServerError"],
      ["1 s", elsewhere.has(Effect.asSome(token("found", "1 hour")))],
      ["1 s", get, "found"],
      ["49 min", fail(failures.unavailable)],
      ["49 min", get, "found", requests(2)],
      ["49 min", headlines, [noToken, obtainedAgain, notRenewed(true)]]
    ], { latency: 0, random: 0, sharing: elsewhere.sharing })
  })

  it.scoped("shows that the pause of the endpoint delays a forced renewal", () => {
    const elsewhere = makeElsewhere()
    return timeline([
      ["0 s", fail(failures.unavailableFor("1 hour"))],
      ["0 s", get, "ServerError"],
      ["1 s", elsewhere.has(Effect.asSome(token("found", "2 hours")))],
      ["1 s", get, "found"],
      ["2 s", reject("found")],
      ["2 s", nextRequestAt, 3_600]
    ], { latency: 0, random: 0, sharing: elsewhere.sharing })
  })

  it.scoped("does not search while a forced renewal is under way", () => {
    const elsewhere = makeElsewhere()
    return timeline([
      ["0 s", get, "token-1"],
      ["1 s", hang],
      ["1 s", reject("token-1"), unseen, requests(2)],
      ["3 s", reject("token-1")],
      ["5 s", reject("token-1")],
      ["5 s", elsewhere.searches, []]
    ], { latency: 0, random: 0, sharing: elsewhere.sharing })
  })

  it.scoped("lets a caller wait for a search for 0.6 seconds, and takes what it finds later", () => {
    const elsewhere = makeElsewhere()
    return remembering(elsewhere, [
      ["1 s", elsewhere.has(Effect.delay(Effect.asSome(token("late", "1 hour")), "5 seconds"))],
      ["1 s", get, "waits"],
      ["1.599 s", caller(2), "waits"],
      ["1.6 s", caller(2), "InvalidClient"],
      ["6 s", get, "late"],
      ["6 s", elsewhere.searches, ["Nothing InvalidClient"]]
    ])
  })

  it.scoped("does not take what a search finds after the state has changed", () => {
    const elsewhere = makeElsewhere()
    return remembering(elsewhere, [
      ["1 s", elsewhere.has(Effect.delay(Effect.asSome(token("late", "1 hour")), "2 seconds"))],
      ["1 s", get],
      ["2 s", caller(2), "InvalidClient"],
      // an engineer starts a refresh, which is refused again
      ["2 s", refresh, "InvalidClient"],
      ["4 s", phase, "None"]
    ])
  })

  it.scoped("sends no request again after its deadline, even after a reset, which otherwise needs no pause", () => {
    const elsewhere = makeElsewhere()
    return timeline([
      ["0 s", fail(failures.reset)],
      ["0 s", get, "waits"],
      ["11.1 s", caller(1), "Reset", requests(1)]
    ], { latency: "11 seconds", sharing: elsewhere.sharing })
  })

  it.scoped("does not take what a search finds while a token request is under way", () => {
    const elsewhere = makeElsewhere()
    return remembering(elsewhere, [
      ["29 s", elsewhere.has(Effect.delay(Effect.asSome(token("late", "1 hour")), "2 seconds"))],
      ["29 s", get],
      ["30 s", hang],
      ["30 s", get, "waits", requests(2)],
      ["32 s", phase, "None"]
    ])
  })

  it.scoped("gives callers the endpoint's failure, and not the failure of a search that dies", () => {
    const elsewhere = makeElsewhere()
    return remembering(elsewhere, [
      ["1 s", elsewhere.has(Effect.die(new Error("a canary")))],
      ["1 s", get, "InvalidClient"]
    ])
  })

  it.scoped("searches too when a renewal was forced a short time ago, and replace waits for what it finds", () => {
    const elsewhere = makeElsewhere()
    return timeline([
      ["0 s", get, "token-1"],
      ["1 s", reject("token-1"), unseen, requests(2)],
      ["2 s", reject("token-2")],
      ["2 s", elsewhere.searches, ["Rejected undefined"]],
      ["3 s", elsewhere.has(Effect.delay(Effect.asSome(token("found", "1 hour")), "100 millis"))],
      ["3 s", replace("token-2", "token-1"), "waits"],
      ["3.1 s", caller(2), "found"],
      ["3.1 s", get, "found", requests(2)]
    ], {
      latency: 0,
      random: 0,
      sharing: elsewhere.sharing
    })
  })
})
