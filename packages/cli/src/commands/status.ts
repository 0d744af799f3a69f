import type { AccessToken } from "@credit-data/core/AccessToken"
import * as SharedTokens from "@credit-data/fleet/SharedTokens"
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
import type { Invocation } from "../commandLine/commands.ts"
import { exitCode } from "../exitCode.ts"
import { Failure, ofTokenError } from "../failure.ts"
import { instant } from "../instant.ts"
import type * as PrintedJson from "../printedJson.ts"
import * as Supply from "../supply.ts"
import { colored, hasUnicode } from "../color.ts"
import { table } from "../table.ts"
import { printLine } from "../terminal.ts"

const noToken = new Failure({
  code: exitCode.usage,
  message: "The cache has no valid token for these variables. Run a command with --cache first."
})

const unreadable = (directory: string, reason: string) =>
  new Failure({
    code: exitCode.usage,
    message:
      `The cache folder ${directory} cannot be read (${reason}). Check its permissions, or set XDG_CACHE_HOME to another folder.`
  })

const withoutNetwork = Layer.succeed(HttpClient.HttpClient, HttpClient.make(() => Effect.dieMessage("only read")))

/** What the cache contains for these variables. Sends nothing, and does not create the folder of the cache. */
const cached = Effect.fnUntraced(function*(choice: Pick<Supply.Choice, "auth">) {
  const version = yield* Supply.versionOf(choice)
  const endpoint = yield* Layer.build(Supply.endpointLayer(version))
  const files = yield* FileSystem.FileSystem
  const directory = yield* Supply.cacheDirectory
  return yield* Effect.gen(function*() {
    if (!(yield* files.exists(directory))) return yield* noToken
    return yield* Effect.provide(Effect.provide(SharedTokens.read, Supply.cacheLayer), endpoint).pipe(
      Effect.mapError(Supply.shortSecret)
    )
  }).pipe(
    Effect.catchTags({
      StoreError: ({ code }) => unreadable(directory, code),
      BadArgument: () => unreadable(directory, "BadArgument"),
      SystemError: ({ reason }) => unreadable(directory, reason)
    })
  )
}, (effect) =>
  effect.pipe(
    Effect.scoped,
    // there is nothing to report but the cache's contents
    Logger.withMinimumLogLevel(LogLevel.None),
    Effect.provide([NodeFileSystem.layer, withoutNetwork])
  ))

type Failed = Option.Option.Value<SharedTokens.Stored["failure"]>

const failureText = ({ error, until }: Failed): string => `${error._tag}, until ${instant(until).iso}`

const barWidth = 30

/** How much of its life is left: green, yellow in its last quarter, and red in the last tenth. */
const bar = (share: number): string => {
  const full = Math.round(share * barWidth)
  const color = share > 0.25 ? "green" : share > 0.1 ? "yellow" : "red"
  const [filled, empty] = hasUnicode() ? ["█", "░"] : ["#", "-"]
  return `${colored(color, filled.repeat(full))}${colored("dim", empty.repeat(barWidth - full))} ${
    Math.round(share * 100)
  } %`
}

const life = (token: AccessToken, now: DateTime.Utc) => {
  const whole = DateTime.distance(token.requestedAt, token.expiresAt)
  const left = Math.max(0, DateTime.distance(now, token.expiresAt))
  return { left: Duration.seconds(Math.floor(left / 1_000)), share: Math.min(1, left / whole) }
}

const format = (token: AccessToken, failure: Option.Option<Failed>, now: DateTime.Utc): string => {
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
    } satisfies PrintedJson.Status
  )

export const status = ({ options }: Invocation<"status">) =>
  Effect.gen(function*() {
    const { failure, token } = yield* cached(options)
    if (Option.isSome(token)) {
      const now = yield* DateTime.now
      return yield* printLine((options.json ? json : format)(token.value, failure, now))
    }
    if (Option.isNone(failure)) return yield* noToken
    return yield* new Failure({
      code: ofTokenError(failure.value.error),
      message: `The cache contains a failure instead of a token: ${
        failureText(failure.value)
      }. ${failure.value.error.message}`
    })
  })
