import type { AccessToken } from "@credit-data/core/AccessToken"
import { loadStored, type Stored } from "@credit-data/fleet/Internal"
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
import * as Cache from "../cache.ts"
import type { Invocation } from "../commandLine/commands.ts"
import { Failure, ofTokenError, wrongUsage } from "../failure.ts"
import * as Supply from "../supply.ts"
import { printLine } from "../terminal.ts"
import { colored, hasUnicode, instant, jsonText, scopesText, table } from "../text.ts"

const noToken = wrongUsage("The cache has no valid token for these variables. Run a command with --cache first.")

const unreadable = (directory: string, reason: string) =>
  wrongUsage(
    `The cache folder ${directory} cannot be read (${reason}). Check its permissions, or set XDG_CACHE_HOME to another folder.`
  )

const withoutNetwork = Layer.succeed(HttpClient.HttpClient, HttpClient.make(() => Effect.dieMessage("only read")))

/** What the cache contains for these variables. Sends nothing, and does not create the folder of the cache. */
const cached = Effect.fnUntraced(function*(options: Invocation<"status">["options"]) {
  const endpoint = yield* Layer.build(Supply.endpointLayer(yield* Supply.versionOf(options)))
  const directory = yield* Cache.directory
  return yield* Effect.if(Effect.flatMap(FileSystem.FileSystem, (files) => files.exists(directory)), {
    onFalse: () => noToken,
    onTrue: () =>
      Effect.promise(loadStored).pipe(
        Effect.flatMap(({ read }) => Effect.provide(Effect.provide(read, Cache.storeLayer), endpoint)),
        Effect.mapError(Cache.shortSecret)
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

const at = (time: DateTime.Utc) => instant(DateTime.toEpochMillis(time))

type Failed = Option.Option.Value<Stored["failure"]>

const failureText = ({ error, until }: Failed): string => `${error._tag}, until ${at(until).iso}`

const barWidth = 30

/** How much of its life is left: green, yellow in its last quarter, and red in the last tenth. */
const bar = (share: number): string => {
  const full = Math.round(share * barWidth)
  const color = share > 0.25 ? "green" : share > 0.1 ? "yellow" : "red"
  const [filled, empty] = hasUnicode() ? ["█", "░"] : ["#", "-"]
  const shown = `${colored(color, filled.repeat(full))}${colored("dim", empty.repeat(barWidth - full))}`
  return `${shown} ${Math.round(share * 100)} %`
}

const format = (token: AccessToken, failure: Option.Option<Failed>, left: number, isJson: boolean): string => {
  const { expiresAt, requestedAt, scopes } = token
  const leftSeconds = Math.floor(left / 1_000)
  const expires = at(expiresAt)
  if (isJson) {
    return jsonText({
      scopes,
      requestedAt: at(requestedAt),
      expiresAt: expires,
      leftSeconds,
      failure: Option.getOrNull(
        Option.map(failure, ({ error, until }) => ({ error: error._tag, message: error.message, until: at(until) }))
      )
    })
  }
  return table([
    ["life", bar(Math.min(1, left / DateTime.distance(requestedAt, expiresAt)))],
    ["left", Duration.format(Duration.seconds(leftSeconds))],
    ["expires", `${expires.iso} (${expires.epochSeconds})`],
    ["scopes", scopesText(scopes)],
    ...Option.toArray(Option.map(failure, (failure) => ["failure", failureText(failure)]))
  ])
}

export const status = ({ options }: Invocation<"status">) =>
  Effect.gen(function*() {
    const { failure, token } = yield* cached(options)
    if (Option.isSome(token)) {
      const left = Math.max(0, DateTime.distance(yield* DateTime.now, token.value.expiresAt))
      return yield* printLine(format(token.value, failure, left, options.json))
    }
    if (Option.isNone(failure)) return yield* noToken
    const { error } = failure.value
    return yield* new Failure({
      code: ofTokenError(error),
      message: `The cache contains a failure instead of a token: ${failureText(failure.value)}. ${error.message}`
    })
  })
