import { Cause, Effect, Inspectable, Logger, Runtime } from "effect"
import { Console as NodeConsole } from "node:console"
import { Writable } from "node:stream"
import { inspect } from "node:util"

const swallow = (print: () => unknown): string => {
  try {
    return String(print())
  } catch (error) {
    return inspect(error)
  }
}

const onConsole = (print: (console: InstanceType<typeof NodeConsole>) => void): string => {
  let written = ""
  const stream = new Writable({
    write: (chunk, _, done) => {
      written += String(chunk)
      done()
    }
  })
  print(new NodeConsole({ stdout: stream, stderr: stream }))
  return written
}

/** Every way to turn a value into text that Node and Effect have, without a program around it. */
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
  FiberFailure: (value) => swallow(() => inspect(Runtime.makeFiberFailure(Cause.fail(value)), { depth: Infinity }))
}

const formats = [
  ["stringLogger", Logger.stringLogger],
  ["logfmtLogger", Logger.logfmtLogger],
  ["jsonLogger", Logger.jsonLogger],
  ["structuredLogger", Logger.map(Logger.structuredLogger, (entry) => inspect(entry, { depth: Infinity }))]
] as const

const logged = (value: unknown) =>
  Effect.forEach(formats, ([name, format]) => {
    const lines: Array<string> = []
    const later: Array<unknown> = []
    const collector = Logger.make<unknown, void>((options) => {
      lines.push(format.log(options))
      later.push(options.message, options.cause, options.annotations)
    })
    return Effect.all([
      Effect.logInfo(value),
      Effect.logError("failed", value),
      Effect.logError("failed", Cause.fail(value)),
      Effect.annotateLogs(Effect.logInfo("annotated"), "value", value)
    ]).pipe(
      Effect.provide(Logger.replace(Logger.defaultLogger, collector)),
      Effect.map(() => [[name, lines.join("\n")], [`${name}, later`, inspect(later, { depth: Infinity })]] as const)
    )
  })

/** A value, printed in every way: the name of each way with what it printed. */
export const printAll = (value: unknown): Effect.Effect<ReadonlyArray<readonly [printer: string, text: string]>> =>
  Effect.map(logged(value), (logs) => [
    ...Object.entries(printers).map(([name, print]) => [name, print(value)] as const),
    ...logs.flat()
  ])
