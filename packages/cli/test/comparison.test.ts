import { HttpError } from "@credit-data/core/Internal"
import { TokenError } from "@credit-data/core"
import { whileTimePasses } from "@credit-data/test-support/whileTimePasses"
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Either, Option } from "effect"
import * as Comparison from "../src/comparison.ts"
import { setUp } from "./support/versions.ts"

const get = (path: string): Comparison.Probe => ({ method: "GET", path })

/** The API's response to this path with a token of this version. */
type Api = (path: string, version: string, method: string) => { readonly status: number; readonly body?: string }

const clientOf = (api: Api) =>
  HttpClient.make((request) => {
    const version = /Bearer (V\d)/.exec(request.headers["authorization"] ?? "")?.[1] ?? "none"
    const { pathname } = new URL(request.url)
    const { body, status } = api(pathname, version, request.method)
    return status === 0
      ? Effect.fail(
        HttpError.requestError("Transport", { request, cause: { code: "ECONNREFUSED", message: "a canary" } })
      )
      : status === 1
      ? Effect.never
      : Effect.succeed(HttpClientResponse.fromWeb(request, new Response(body, { status })))
  })

const compared = Effect.fnUntraced(function*(options: {
  readonly api?: Api
  readonly probes?: ReadonlyArray<Comparison.Probe>
  readonly prepare?: (world: Effect.Effect.Success<typeof setUp>) => void
}) {
  const world = yield* setUp
  options.prepare?.(world)
  return yield* Comparison.compare({ ...world.supplies, probes: options.probes }).pipe(
    Effect.provideService(HttpClient.HttpClient, clientOf(options.api ?? (() => ({ status: 200, body: "same" }))))
  )
})

const tags = ({ problems, verdict }: Comparison.Comparison) => [verdict, ...problems.map(({ _tag }) => _tag)]

describe("a comparison of both versions", () => {
  it.scoped("is ready when both grant everything and all probes get equal responses", () =>
    Effect.gen(function*() {
      const probes = [get("/data-access/one"), { method: "HEAD", path: "/furnishment/two" } as const]
      const result = yield* compared({ probes })
      assert.deepStrictEqual(tags(result), ["Ready"])
      for (const [index, { probe, sameBody }] of result.probes.entries()) {
        assert.deepStrictEqual([probe, sameBody], [probes[index], Option.some(true)])
      }
    }))

  it.scoped("proves nothing without probes", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(tags(yield* compared({})), ["Unproven"])
      const withoutV1 = yield* compared({
        prepare: ({ v1 }) => {
          v1.behaviour = "refuses"
        }
      })
      assert.deepStrictEqual(tags(withoutV1), ["Unproven", "NoTokenFromV1"])
    }))

  it.scoped("takes only statuses from 200 to 299 as a proof", () =>
    Effect.gen(function*() {
      const verdicts: Array<string> = []
      for (const status of [200, 204, 299, 300, 304, 404, 503]) {
        const { verdict } = yield* compared({ probes: [get("/one")], api: () => ({ status }) })
        verdicts.push(`${status} ${verdict}`)
      }
      assert.deepStrictEqual(verdicts, [
        "200 Ready",
        "204 Ready",
        "299 Ready",
        "300 NotReady",
        "304 NotReady",
        "404 NotReady",
        "503 NotReady"
      ])
    }))

  it.scoped("fails when the token endpoint of either version has a temporary failure", () =>
    Effect.gen(function*() {
      for (const version of ["v1", "v2"] as const) {
        const prepare = (world: Record<typeof version, { behaviour: string }>) => {
          world[version].behaviour = "is busy"
        }
        const error = yield* whileTimePasses(Effect.flip(compared({ probes: [get("/one")], prepare })))
        assert.isTrue(TokenError.isTokenError(error) && error.tokenEndpoint === `https://${version}.example/token`)
      }
    }))

  it.scoped("has no rollback when the host of Auth V1 was removed", () =>
    Effect.gen(function*() {
      const prepare = ({ v1 }: { readonly v1: { behaviour: string } }) => {
        v1.behaviour = "has no host"
      }
      const result = yield* whileTimePasses(compared({ probes: [get("/one")], prepare }))
      assert.deepStrictEqual(tags(result), ["ReadyWithoutRollback", "NoTokenFromV1"])
    }))

  it.scoped("names the scopes that are missing", () =>
    Effect.gen(function*() {
      const result = yield* compared({
        prepare: ({ v2 }) => {
          v2.behaviour = "grants too little"
        }
      })
      assert.deepStrictEqual(result.problems, [Comparison.Problem.ScopesMissing({ scopes: ["furnishment:all"] })])
      assert.strictEqual(result.verdict, "NotReady")
      const lifetime = Duration.hours(1)
      assert.deepStrictEqual(Either.getOrThrow(result.v1), { scopes: ["read:consumers"], missingScopes: [], lifetime })
      assert.deepStrictEqual(Either.getOrThrow(result.v2), {
        scopes: ["data-access:all"],
        missingScopes: ["furnishment:all"],
        lifetime
      })
    }))

  it.scoped("is not ready when Auth V2 issues no token, and still sends the probes with Auth V1", () =>
    Effect.gen(function*() {
      const result = yield* compared({
        probes: [get("/one")],
        prepare: ({ v2 }) => {
          v2.behaviour = "refuses"
        }
      })
      assert.deepStrictEqual(tags(result), ["NotReady", "NoTokenFromV2"])
      const [probe] = result.probes
      assert.deepStrictEqual([Option.isSome(probe?.v1 ?? Option.none()), probe?.v2, probe?.sameBody], [
        true,
        Option.none(),
        Option.none()
      ])
    }))

  it.scoped("has no rollback when Auth V1 issues no token", () =>
    Effect.gen(function*() {
      const prepare = ({ v1 }: { readonly v1: { behaviour: string } }) => {
        v1.behaviour = "refuses"
      }
      assert.deepStrictEqual(tags(yield* compared({ probes: [get("/one")], prepare })), [
        "ReadyWithoutRollback",
        "NoTokenFromV1"
      ])
      const { problems, v1 } = yield* compared({ probes: [get("/one")], prepare })
      const [problem] = problems
      assert(problem?._tag === "NoTokenFromV1")
      assert.strictEqual(problem.error, Either.getOrThrow(Either.flip(v1)))
      const refused = yield* compared({ probes: [get("/one")], prepare, api: () => ({ status: 403 }) })
      assert.deepStrictEqual(tags(refused), ["NotReady", "ProbeFailed", "NoTokenFromV1"])
    }))

  it.scoped("finds another status, another body, an error and a response that never arrives", () =>
    Effect.gen(function*() {
      const api: Api = (path, version) => {
        switch (path) {
          case "/status":
            return { status: version === "V1" ? 200 : 403 }
          case "/body":
            return { status: 200, body: version }
          case "/missing":
            return { status: 404 }
          case "/broken":
            return { status: version === "V1" ? 200 : 0 }
          default:
            return { status: 200, body: "same" }
        }
      }
      const probes = ["/status", "/body", "/missing", "/broken", "/good"].map(get)
      const result = yield* compared({ api, probes })
      const [status, body, missing, broken] = probes
      assert.isDefined(status)
      assert.isDefined(body)
      assert.isDefined(missing)
      assert.isDefined(broken)
      assert.deepStrictEqual(result.problems, [
        Comparison.Problem.StatusDiffers({ probe: status, v1: 200, v2: 403 }),
        Comparison.Problem.BodyDiffers({ probe: body }),
        Comparison.Problem.ProbeFailed({ probe: missing, reason: "status 404" }),
        Comparison.Problem.ProbeFailed({ probe: broken, reason: "Refused" })
      ])
      assert.notInclude(JSON.stringify(result), "canary")
    }))

  it.scoped("waits for a probe for thirty seconds", () =>
    Effect.gen(function*() {
      const comparison = compared({ probes: [get("/never")], api: () => ({ status: 1 }) })
      const result = yield* whileTimePasses(comparison, { stepMillis: 1_000 })
      assert.deepStrictEqual(result.problems, [
        Comparison.Problem.ProbeFailed({ probe: get("/never"), reason: "Timeout" })
      ])
    }))

  it.scoped("prints neither a token nor a body", () =>
    Effect.gen(function*() {
      const result = yield* compared({ probes: [get("/one")], api: () => ({ status: 200, body: "a canary" }) })
      for (const text of [JSON.stringify(result), String(result.probes), String(result.v1)]) {
        assert.notMatch(text, /canary|V1-1|V2-1/)
      }
    }))
})
