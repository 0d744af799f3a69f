import type { AccessToken } from "@credit-data/core/AccessToken"
import * as AccessTokens from "@credit-data/core/AccessTokens"
import * as TokenEndpoint from "@credit-data/core/TokenEndpoint"
import { TransportError } from "@credit-data/core/TokenError"
import * as SharedTokens from "@credit-data/fleet/SharedTokens"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import { exitCode, Failure } from "../exitCode.ts"
import { instant } from "../instant.ts"
import * as Supply from "../supply.ts"
import { answer, colored, table } from "../terminal.ts"
import * as Transport from "../transport.ts"

/** The token endpoint, which sends no request: `status` only reads the cache. */
const withoutRequests = Effect.map(TokenEndpoint.TokenEndpoint, (endpoint): TokenEndpoint.Service => ({
  ...endpoint,
  requestToken: () =>
    Effect.fail(
      new TransportError({ environment: endpoint.environment.name, tokenEndpoint: endpoint.url, reason: "Other" })
    )
}))

const noToken = new Failure({
  code: exitCode.usage,
  message: "The cache has no valid token for these variables. A command with --cache puts one there."
})

const cached = (choice: Pick<Supply.Choice, "auth">) =>
  Effect.gen(function*() {
    const version = yield* Supply.versionOf(choice)
    const supply = SharedTokens.layer().pipe(
      Layer.provide(Layer.effect(TokenEndpoint.TokenEndpoint, withoutRequests)),
      Layer.provide(Supply.endpointLayer(version)),
      Layer.provide(Supply.cacheLayer)
    )
    const get = Effect.flatMap(AccessTokens.AccessTokens, ({ get }) => get)
    return yield* Effect.provide(Effect.mapError(get, () => noToken), supply)
  }).pipe(
    // there is nothing to report but the answer
    Logger.withMinimumLogLevel(LogLevel.None),
    Effect.provide([NodeFileSystem.layer, Transport.layer])
  )

const barWidth = 30

/** How much of its life is left: green, yellow in its last quarter, and red in the last tenth. */
const bar = (share: number): string => {
  const full = Math.round(share * barWidth)
  const color = share > 0.25 ? "green" : share > 0.1 ? "yellow" : "red"
  return `${colored(color, "█".repeat(full))}${colored("dim", "░".repeat(barWidth - full))} ${
    Math.round(share * 100)
  } %`
}

const life = (token: AccessToken, now: DateTime.Utc) => {
  const whole = DateTime.distance(token.requestedAt, token.expiresAt)
  const left = Math.max(0, DateTime.distance(now, token.expiresAt))
  return { left: Duration.seconds(Math.floor(left / 1_000)), share: Math.min(1, left / whole) }
}

const print = (token: AccessToken, now: DateTime.Utc): string => {
  const { left, share } = life(token, now)
  const expires = instant(token.expiresAt)
  return table([
    ["life", bar(share)],
    ["left", Duration.format(left)],
    ["expires", `${expires.iso} (${expires.epochSeconds})`],
    ["scopes", token.scopes.join(" ")]
  ])
}

const json = (token: AccessToken, now: DateTime.Utc): string =>
  JSON.stringify({
    version: 1,
    scopes: token.scopes,
    requestedAt: instant(token.requestedAt),
    expiresAt: instant(token.expiresAt),
    leftSeconds: Duration.toSeconds(life(token, now).left)
  })

export const status = Command.make("status", {
  auth: Supply.options.auth,
  json: Options.boolean("json").pipe(Options.withDescription("Print JSON"))
}, ({ json: isJson, ...choice }) =>
  Effect.gen(function*() {
    const token = yield* cached(choice)
    const now = yield* DateTime.now
    yield* answer((isJson ? json : print)(token, now))
  })).pipe(
    Command.withDescription("Show the cached token's life and its scopes. Reads the cache only")
  )
