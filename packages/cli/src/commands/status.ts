import type { AccessToken } from "@credit-data/core/AccessToken"
import * as SharedTokens from "@credit-data/fleet/SharedTokens"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as FileSystem from "@effect/platform/FileSystem"
import * as HttpClient from "@effect/platform/HttpClient"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import type * as Answers from "../answers.ts"
import { exitCode, Failure, ofTokenError } from "../exitCode.ts"
import { instant } from "../instant.ts"
import * as Supply from "../supply.ts"
import { colored } from "../color.ts"
import { table } from "../table.ts"
import { answer } from "../terminal.ts"

const noToken = new Failure({
  code: exitCode.usage,
  message: "The cache has no valid token for these variables. A command with --cache puts one there."
})

const unreadable = (reason: string) =>
  new Failure({
    code: exitCode.usage,
    message: `The folder of the cache cannot be read (${reason}). Check its permissions, and XDG_CACHE_HOME.`
  })

const withoutNetwork = Layer.succeed(HttpClient.HttpClient, HttpClient.make(() => Effect.dieMessage("only read")))

/** What the cache holds for these variables. Sends nothing, and does not create the folder of the cache. */
const cached = Effect.fnUntraced(function*(choice: Pick<Supply.Choice, "auth">) {
  const version = yield* Supply.versionOf(choice)
  const endpoint = yield* Layer.build(Supply.endpointLayer(version))
  const files = yield* FileSystem.FileSystem
  if (!(yield* files.exists(yield* Supply.cacheDirectory))) return yield* noToken
  return yield* Effect.provide(Effect.provide(SharedTokens.read, Supply.cacheLayer), endpoint)
}, (effect) =>
  effect.pipe(
    Effect.scoped,
    Effect.catchTags({
      StoreError: ({ code }) => unreadable(code),
      BadArgument: () => unreadable("BadArgument"),
      SystemError: ({ reason }) => unreadable(reason)
    }),
    // there is nothing to report but the answer
    Logger.withMinimumLogLevel(LogLevel.None),
    Effect.provide([NodeFileSystem.layer, withoutNetwork])
  ))

type Failed = Option.Option.Value<SharedTokens.Stored["failure"]>

const failureText = ({ error, until }: Failed): string => `${error._tag}, until ${DateTime.formatIso(until)}`

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

const print = (token: AccessToken, failure: Option.Option<Failed>, now: DateTime.Utc): string => {
  const { left, share } = life(token, now)
  const expires = instant(token.expiresAt)
  return table([
    ["life", bar(share)],
    ["left", Duration.format(left)],
    ["expires", `${expires.iso} (${expires.epochSeconds})`],
    ["scopes", token.scopes.join(" ")],
    ...Option.match(failure, { onNone: () => [], onSome: (failure) => [["failure", failureText(failure)]] })
  ])
}

const json = (token: AccessToken, failure: Option.Option<Failed>, now: DateTime.Utc): string =>
  JSON.stringify(
    {
      version: 1,
      scopes: token.scopes,
      requestedAt: instant(token.requestedAt),
      expiresAt: instant(token.expiresAt),
      leftSeconds: Duration.toSeconds(life(token, now).left),
      failure: Option.match(failure, {
        onNone: () => null,
        onSome: ({ error, until }) => ({ error: error._tag, message: error.message, until: instant(until) })
      })
    } satisfies Answers.Status
  )

export const status = Command.make("status", {
  auth: Supply.options.auth,
  json: Options.boolean("json").pipe(Options.withDescription("Print JSON"))
}, ({ json: isJson, ...choice }) =>
  Effect.gen(function*() {
    const { failure, token } = yield* cached(choice)
    if (Option.isSome(token)) {
      const now = yield* DateTime.now
      return yield* answer((isJson ? json : print)(token.value, failure, now))
    }
    if (Option.isNone(failure)) return yield* noToken
    return yield* new Failure({
      code: ofTokenError(failure.value.error),
      message: `The cache has a failure in place of a token: ${
        failureText(failure.value)
      }. ${failure.value.error.message}`
    })
  })).pipe(
    Command.withDescription("Show the cached token's life and its scopes. Reads the cache only")
  )
