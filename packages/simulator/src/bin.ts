#!/usr/bin/env node
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { help, parse } from "./internal/standalone/arguments.ts"
import * as Standalone from "./internal/standalone/standalone.ts"

const [, , ...given] = process.argv

parse(given).pipe(
  Effect.flatMap(Option.match({ onNone: () => Console.log(help), onSome: Standalone.run })),
  Effect.tapError((error) => Console.error(error.message)),
  NodeRuntime.runMain({ disableErrorReporting: true })
)
