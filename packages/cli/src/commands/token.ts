import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { Invocation } from "../commandLine/commands.ts"
import * as Supply from "../supply.ts"
import { note, printLine } from "../terminal.ts"
import { hiddenNote, isHidden, tokenText } from "../tokenText.ts"

export const token = ({ options }: Invocation<"token">) =>
  Effect.gen(function*() {
    const { expiresAt, requestedAt, scopes, secret } = yield* Supply.covering(options)
    const printed = {
      secret: Redacted.value(secret),
      scopes,
      requestedAt: DateTime.toEpochMillis(requestedAt),
      expiresAt: DateTime.toEpochMillis(expiresAt)
    }
    yield* printLine(tokenText(printed, options))
    if (isHidden(options)) yield* note(hiddenNote)
  }).pipe(Effect.provide(Supply.layer(options)))
