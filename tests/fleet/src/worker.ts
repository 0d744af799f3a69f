// A process of a fleet. It reads one command for each line of its standard input, and prints the result of each as a line of
// JSON.

import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens, type TokenError } from "@credit-data/core"
import { ForcedRenewalMillis } from "@credit-data/core/Internal"
import { SharedTokens, TokenStore } from "@credit-data/fleet"
import { RedisTokenStore } from "@credit-data/store-redis"
import * as ClockParts from "@credit-data/test-support/clock"
import { withConstantRandom } from "@credit-data/test-support/constantRandom"
import { NodeContext, NodeHttpClient } from "@effect/platform-node"
import {
  Clock,
  ConfigProvider,
  DateTime,
  Duration,
  Effect,
  Either,
  Exit,
  Layer,
  Logger,
  Option,
  Redacted,
  Scope
} from "effect"
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { get as httpGet } from "node:http"
import { createInterface } from "node:readline"
import { watchLoop } from "./loop.ts"
import type { CommandResult, Command } from "./protocol.ts"

/** The clock of a machine whose wall clock is wrong by this much. */
const clockAhead = (millis: number): Clock.Clock => {
  const real = Clock.make()
  return ClockParts.make({
    wallMillis: () => real.unsafeCurrentTimeMillis() + millis,
    monotonicNanos: () => real.unsafeCurrentTimeNanos(),
    sleep: (duration) => real.sleep(duration)
  })
}

const storeOf = ({ directory, redis, redisFile }: Extract<Command, { readonly do: "start" }>) =>
  redis !== undefined
    ? RedisTokenStore.layer({ url: Redacted.make(redis) })
    : redisFile !== undefined
    ? RedisTokenStore.layer({ url: Effect.sync(() => Redacted.make(readFileSync(redisFile, "utf8"))) })
    : TokenStore.layerFileSystem({ directory: directory ?? "" })

let scope = Effect.runSync(Scope.make())
let tokens: AccessTokens.Service | undefined
const logs: Array<string> = []
const logger = Logger.make(({ logLevel, message }) => {
  logs.push(`${logLevel.label} ${String(message)}`)
})

const start = (command: Extract<Command, { readonly do: "start" }>) => {
  const isShared = [command.redis, command.redisFile, command.directory].some((place) => place !== undefined)
  const supply = isShared
    ? SharedTokens.layer().pipe(
      Layer.provide(AuthV2.layerTokenEndpointConfig()),
      Layer.provide(storeOf(command))
    )
    : AuthV2.layerConfig()
  logs.length = 0
  return Effect.gen(function*() {
    scope = yield* Scope.make()
    const context = yield* Layer.build(supply.pipe(Layer.provide([NodeHttpClient.layer, NodeContext.layer]))).pipe(
      Scope.extend(scope),
      Effect.provideService(ForcedRenewalMillis, command.forcedRenewalMillis ?? 30_000),
      (built) => command.hasConstantPauses === true ? withConstantRandom(0.5)(built) : built
    )
    tokens = yield* Effect.provide(AccessTokens.AccessTokens, context)
  }).pipe(
    Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(command.variables)))),
    Effect.withClock(clockAhead(command.aheadMillis ?? 0)),
    Effect.provide(Logger.replace(Logger.defaultLogger, logger))
  )
}

const got = (
  from: number,
  outcome: Either.Either<{ readonly secret: Redacted.Redacted }, { readonly _tag: string }>
) => ({
  millis: performance.now() - from,
  token: Either.match(outcome, {
    onLeft: () => undefined,
    // a token is never printed
    onRight: ({ secret }) => createHash("sha256").update(Redacted.value(secret)).digest("hex").slice(0, 12)
  }),
  error: Either.match(outcome, { onLeft: ({ _tag }) => _tag, onRight: () => undefined })
})

/** A call of the business API, which checks the expiry of its tokens. */
const call = (
  url: string,
  { secret }: { readonly secret: Redacted.Redacted },
  headers: Readonly<Record<string, string>> = {}
) =>
  Effect.async<{ readonly error: string | undefined }>((resume) => {
    const ended = (error: string | undefined) => resume(Effect.succeed({ error }))
    httpGet(url, { headers: { ...headers, authorization: `Bearer ${Redacted.value(secret)}` } }, (response) => {
      response.resume().on("end", () => {
        ended(response.statusCode === 200 ? undefined : `status ${response.statusCode}`)
      })
    }).on("error", () => ended("no response"))
  })

/** Calls again and again, replaces a token that was rejected once, and reports each call. */
const load = (
  { get, invalidate, replace }: AccessTokens.Service,
  { process: name, url }: Extract<Command, { readonly do: "load" }>
) =>
  Effect.gen(function*() {
    const from = Date.now()
    const startedAt = performance.now()
    const headers = () => ({ "x-process": name, "x-got-at": String(Date.now()) })
    const failed = (error: TokenError.TokenError) =>
      Effect.succeed({ error: error._tag === "InvalidResponse" ? `${error._tag} ${error.rule}` : error._tag })
    let waited = 0
    let requestedAt: number | undefined
    const outcome = yield* Effect.gen(function*() {
      const token = yield* get
      const present = headers()
      waited = performance.now() - startedAt
      requestedAt = DateTime.toEpochMillis(token.requestedAt)
      const first = yield* call(url, token, present)
      if (first.error !== "status 401") return first
      const other = yield* replace(token)
      const second = yield* call(url, other, headers())
      if (second.error === "status 401") yield* invalidate(other)
      return second
    }).pipe(Effect.catchAll(failed))
    const until = Date.now()
    process.stdout.write(
      `${JSON.stringify({ call: { process: name, from, until, waited, requestedAt, ...outcome } })}\n`
    )
    yield* Effect.sleep(Duration.millis(50 + Math.random() * 100))
  }).pipe(Effect.forever)

const run = (command: Command): Effect.Effect<CommandResult, unknown> =>
  Effect.gen(function*() {
    if (command.do === "start") {
      yield* start(command)
      return {}
    }
    const supply = tokens ?? (yield* Effect.dieMessage("Not started."))
    const { get, replace, status } = supply
    switch (command.do) {
      case "get": {
        const from = performance.now()
        return got(from, yield* Effect.either(get))
      }
      case "replace": {
        const rejected = yield* get
        const from = performance.now()
        return got(from, yield* Effect.either(replace(rejected)))
      }
      case "run": {
        const until = performance.now() + command.millis
        const errors: Array<string> = []
        let calls = 0
        let longest = 0
        while (performance.now() < until) {
          const from = performance.now()
          const outcome = yield* Effect.either(get)
          longest = Math.max(longest, performance.now() - from)
          calls++
          const { error } = Either.isRight(outcome) ? yield* call(command.url, outcome.right) : got(from, outcome)
          if (error !== undefined) errors.push(error)
          yield* Effect.sleep(Duration.millis(100 + Math.random() * 100))
        }
        return { calls, errors, millis: longest }
      }
      case "load":
        watchLoop((delay) => {
          process.stdout.write(`${JSON.stringify({ delay: { process: command.process, ...delay } })}\n`)
        })
        yield* Effect.forkIn(load(supply, command), scope)
        return {}
      case "measure": {
        globalThis.gc?.()
        const sockets = process.getActiveResourcesInfo().filter((resource) => resource.startsWith("TCP")).length
        return { heap: process.memoryUsage().heapUsed, sockets }
      }
      case "status":
        return { store: Option.getOrUndefined((yield* status).store), logs }
      case "close": {
        const from = performance.now()
        yield* Scope.close(scope, Exit.void)
        return { millis: performance.now() - from }
      }
    }
  })

process.stdout.write("{}\n")
createInterface({ input: process.stdin }).on("line", (line) => {
  const command: Command = JSON.parse(line)
  Effect.runPromise(run(command)).then(
    (result) => process.stdout.write(`${JSON.stringify(result)}\n`),
    (error: unknown) => process.stdout.write(`${JSON.stringify({ error: String(error) })}\n`)
  )
}).on("close", () => process.exit())
