import { AccessToken, TokenError } from "@credit-data/core"
import { HttpClient } from "@effect/platform"
import { Cause, DateTime, Duration, Effect, Layer, Logger, LogLevel, Redacted } from "effect"
import { AuthV1 } from "../../../packages/auth-v1/src/index.ts"
import * as core from "../../../packages/core/src/internal/logLines.ts"
import * as fleet from "../../../packages/fleet/src/internal/logLines.ts"
import * as telemetry from "../../../packages/telemetry/src/internal/logLines.ts"
import { docsOfInternal } from "./declarations.ts"

// The lines that the packages log, with "…" in place of what differs.

const at = DateTime.unsafeMake(0)
const token = new AccessToken.AccessToken({
  secret: Redacted.make("token"),
  scopes: [],
  requestedAt: at,
  expiresAt: at
})
const error = new TokenError.ServerError({ environment: "…", tokenEndpoint: "https://v2.example", endpointStatus: 503 })

/** The lines of a module, by the name of what logs them. */
type Lines<Module> = Readonly<Record<keyof Module, Effect.Effect<void>>>

const ofCore: Lines<typeof core> = {
  obtained: core.obtained("…", token, undefined),
  renewed: core.renewed("…", token, undefined),
  shared: core.shared("…", token, undefined),
  noToken: core.noToken(error),
  refused: core.refused(error, "…"),
  notRenewed: core.notRenewed(error, "…"),
  died: core.died(
    "…",
    new (class extends Error {
      override name = "…"
    })()
  ),
  rejected: core.rejected("…", undefined),
  scopesMissing: core.scopesMissing("…", ["…"]),
  scopesGranted: core.scopesGranted("…", ["…"]),
  noLifetime: core.noLifetime("…", Duration.zero),
  credentialsNotRead: core.credentialsNotRead("…", "…"),
  secondSupply: core.secondSupply("…")
}

const ofFleet: Lines<typeof fleet> = {
  storeUnusable: fleet.storeUnusable("…", "…", "…"),
  valueUnusable: fleet.valueUnusable("…"),
  storeWorks: fleet.storeWorks("…")
}

const ofTelemetry: Lines<typeof telemetry> = { notUpdated: telemetry.notUpdated(Cause.empty) }

/** The warning of an adapter, when its layer is built. */
const retired = Layer.build(AuthV1.layer({
  environment: {
    name: "sandbox",
    audience: "https://api.example",
    baseUrl: "https://api.example",
    authV1Url: "https://v1.example"
  },
  credentials: { clientId: "client", clientSecret: Redacted.make("secret") }
})).pipe(
  Effect.scoped,
  Effect.provideService(HttpClient.HttpClient, HttpClient.make(() => Effect.never)),
  Effect.orDie,
  Effect.asVoid
)

/** The level of what an effect logs, and its first sentence. */
const headline = (logs: Effect.Effect<void>) =>
  Effect.suspend(() => {
    const lines: Array<readonly [level: string, sentence: string]> = []
    const logger = Logger.make<unknown, void>(({ logLevel, message }) => {
      const [text = ""] = [message].flat().map(String)
      lines.push([logLevel.label, text.split(/\.(?= |$)/)[0] ?? ""])
    })
    return logs.pipe(
      Effect.provide(Logger.replace(Logger.defaultLogger, logger)),
      Logger.withMinimumLogLevel(LogLevel.All),
      Effect.map(() => lines[0] ?? ["", ""] as const)
    )
  })

/** The level, the first sentence, when it is logged, and when again: `When. Again: each time.` */
const rows = (folder: string, lines: Readonly<Record<string, Effect.Effect<void>>>) =>
  Effect.forEach(Object.entries(lines), ([name, logs]) =>
    Effect.map(headline(logs), ([level, sentence]) => {
      const [[, when, again] = []] = docsOfInternal(folder, name).flatMap((doc) =>
        [/^(.*) Again: (.*)\.$/.exec(doc) ?? []].filter(([found]) => found !== undefined)
      )
      if (when === undefined || again === undefined) {
        throw new Error(`The docstring of the log line ${name} must be like: "When. Again: each time."`)
      }
      return [level, `\`${sentence}\``, when, again]
    }))

export const logLines = Effect.gen(function*() {
  const [level, sentence] = yield* headline(retired)
  return [
    ...yield* rows("core", ofCore),
    [level, `\`${sentence}\``, "The layer of `AuthV1` is built.", "never"],
    ...yield* rows("fleet", ofFleet),
    ...yield* rows("telemetry", ofTelemetry)
  ]
})
