import { assert } from "@effect/vitest"
import { Cause, Console, Effect, FiberRef, HashSet, Inspectable, Logger, Runtime } from "effect"
import { Console as NodeConsole } from "node:console"
import { Writable } from "node:stream"
import { inspect } from "node:util"
import { canary, tokenPrefix } from "./canaries.ts"

const swallow = (print: () => unknown): string => {
  try {
    return String(print())
  } catch (error) {
    return inspect(error)
  }
}

const collect = () => {
  let written = ""
  const stream = new Writable({
    write: (chunk, _, done) => {
      written += String(chunk)
      done()
    }
  })
  return { stream, text: () => written }
}

const onConsole = (print: (console: InstanceType<typeof NodeConsole>) => void): string => {
  const { stream, text } = collect()
  print(new NodeConsole({ stdout: stream, stderr: stream }))
  return text()
}

/** Every function of Node and Effect that turns a value into text, without a running program. */
const printers: Record<string, (value: unknown) => string> = {
  String: (value) => swallow(() => String(value)),
  template: (value) => swallow(() => `${value}`),
  "JSON.stringify": (value) => swallow(() => JSON.stringify(value)),
  inspect: (value) => swallow(() => inspect(value)),
  "inspect in full": (value) => swallow(() => inspect(value, { depth: Infinity, showHidden: true, getters: true })),
  "inspect without custom inspectors": (value) =>
    swallow(() => inspect(value, { depth: Infinity, showHidden: true, customInspect: false })),
  structuredClone: (value) => swallow(() => inspect(structuredClone(value), { depth: Infinity })),
  "console.log": (value) => onConsole((console) => console.log(value)),
  "console.error %o": (value) => onConsole((console) => console.error("%o %O %j %s", value, value, value, value)),
  "console.dir": (value) => onConsole((console) => console.dir(value, { depth: Infinity })),
  "console.table": (value) => onConsole((console) => console.table([value])),
  stack: (value) => swallow(() => value instanceof Error ? `${value.stack} ${value.message}` : ""),
  "Inspectable.format": (value) => swallow(() => Inspectable.toStringUnknown(value)),
  "Cause.pretty": (value) => swallow(() => Cause.pretty(Cause.fail(value), { renderErrorCause: true })),
  Cause: (value) => swallow(() => inspect(Cause.fail(value), { depth: Infinity })),
  "Cause as JSON": (value) => swallow(() => JSON.stringify(Cause.die(value))),
  "a thrown FiberFailure": (value) =>
    swallow(() => {
      try {
        return Effect.runSync(Effect.fail(value))
      } catch (failure) {
        return `${inspect(failure, { depth: Infinity })} ${String(failure)} ${JSON.stringify(failure)}`
      }
    }),
  FiberFailure: (value) => swallow(() => inspect(Runtime.makeFiberFailure(Cause.fail(value)), { depth: Infinity }))
}

/** The ways in which programs log a value. */
const log = (value: unknown) =>
  Effect.all([
    Effect.logInfo(value),
    Effect.logError("failed", value),
    Effect.logError("failed", Cause.fail(value)),
    Effect.annotateLogs(Effect.logInfo("annotated"), "value", value)
  ])

const formats = [
  ["stringLogger", Logger.stringLogger],
  ["logfmtLogger", Logger.logfmtLogger],
  ["jsonLogger", Logger.jsonLogger],
  ["structuredLogger", Logger.map(Logger.structuredLogger, (entry) => inspect(entry, { depth: Infinity }))]
] as const

/** The text of each logger that returns text, and the text of a logger that keeps its input and prints it later. */
const formatted = (value: unknown) =>
  Effect.forEach(formats, ([name, format]) => {
    const lines: Array<string> = []
    const later: Array<unknown> = []
    const collector = Logger.make<unknown, void>((options) => {
      lines.push(format.log(options))
      later.push(options.message, options.cause, options.annotations)
    })
    return log(value).pipe(
      Effect.locally(FiberRef.currentLoggers, HashSet.make(collector)),
      Effect.map(() => [[name, lines.join("\n")], [`${name}, later`, inspect(later, { depth: Infinity })]] as const)
    )
  })

const writers = [
  ["defaultLogger", Logger.defaultLogger],
  ["prettyLogger on a terminal", Logger.prettyLogger({ mode: "tty", colors: false })],
  ["prettyLogger in a browser", Logger.prettyLogger({ mode: "browser", colors: false })],
  ["jsonLogger on the console", Logger.withConsoleLog(Logger.jsonLogger)],
  ["structuredLogger on the console", Logger.withLeveledConsole(Logger.structuredLogger)]
] as const

/** The text of the loggers that write to the console. */
const written = (value: unknown) =>
  Effect.forEach(writers, ([name, logger]) =>
    Console.consoleWith((console) => {
      const { stream, text } = collect()
      return log(value).pipe(
        Effect.withConsole({ ...console, unsafe: new NodeConsole({ stdout: stream, stderr: stream }) }),
        Effect.locally(FiberRef.currentLoggers, HashSet.make(logger)),
        Effect.map(() => [name, text()] as const)
      )
    }))

/** A span, with what `tracerLogger` adds to it. */
const traced = (value: unknown) =>
  Effect.useSpan("a span", (span) =>
    log(value).pipe(
      Effect.withParentSpan(span),
      Effect.locally(FiberRef.currentLoggers, HashSet.make(Logger.tracerLogger)),
      Effect.map(() => ["tracerLogger", inspect(span, { depth: Infinity, showHidden: true })] as const)
    ))

/** Prints a value with every printer, and returns the name of each printer with its text. */
export const printAll = (value: unknown): Effect.Effect<ReadonlyArray<readonly [printer: string, text: string]>> =>
  Effect.map(Effect.all([formatted(value), written(value), traced(value)]), ([formatted, written, traced]) => [
    ...Object.entries(printers).map(([name, print]) => [name, print(value)] as const),
    ...formatted.flat(),
    ...written,
    traced
  ])

/** Fails if a value shows a canary in any printer. */
export const assertNothingShows = Effect.fnUntraced(function*(values: Record<string, unknown>) {
  for (const [name, value] of Object.entries(values)) {
    for (const [printer, text] of yield* printAll(value)) {
      for (const secret of [canary, tokenPrefix]) assert.notInclude(text, secret, `${name}, printed by ${printer}`)
    }
  }
})
