import * as Effect from "effect/Effect"
import { colored } from "../color.ts"
import type { Invocation } from "../commandLine/commands.ts"
import { examine, type Result, type Step } from "../doctor/doctor.ts"
import { sourceOf } from "../envFile.ts"
import { exitCode } from "../exitCode.ts"
import { Ended } from "../failure.ts"
import type * as PrintedJson from "../printedJson.ts"
import { parseProbe } from "../probe.ts"
import { waiting } from "../spinner.ts"
import * as Supply from "../supply.ts"
import { printLine } from "../terminal.ts"
import * as Transport from "../transport.ts"

const marks: Readonly<Record<Result, string>> = {
  ok: colored("green", "ok     "),
  warning: colored("yellow", "warning"),
  failed: colored("red", "failed "),
  skipped: colored("dim", "skipped")
}

const nameWidth = "configuration".length
const timeWidth = "10000 ms".length

/** Where the texts begin, beside the other columns. */
const besides = "warning".length + 2 + nameWidth + 2 + timeWidth + 2

/** A terminal that is narrower than this has no room for texts beside the other columns. */
const narrow = 72

/** The lines of a text that fit into this width. A word is never broken. */
const wrapped = (text: string, width: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  for (const word of text.split(" ")) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

/** A line for the step, and below it what to do. Several things to do are a list. */
const format = ({ advice, detail, millis, name, notes, result }: Step): string => {
  const columns = process.stdout.columns ?? 120
  const isNarrow = columns < narrow
  const indent = isNarrow ? 2 : besides
  const paragraph = (text: string, bullet = "") =>
    wrapped(text, columns - indent - bullet.length)
      .map((line, index) => `${" ".repeat(indent)}${index === 0 ? bullet : " ".repeat(bullet.length)}${line}`)
  const time = result === "skipped" ? "" : `${millis} ms`
  const head = `${marks[result]}  ${name.padEnd(nameWidth)}  ${time.padStart(timeWidth)}`
  const [first = "", ...others] = [
    ...paragraph(detail),
    ...advice.flatMap((each) => paragraph(each, advice.length === 1 ? "" : "- ")),
    ...notes.flatMap((each) => paragraph(each))
  ]
  return isNarrow
    ? [head.trimEnd(), first, ...others].join("\n")
    : [`${head}  ${first.trimStart()}`, ...others].join("\n")
}

const isFailed = ({ result }: Step) => result === "failed"

const json = (steps: ReadonlyArray<Step>): string =>
  JSON.stringify(
    {
      version: 1,
      ok: !steps.some(isFailed),
      steps
    } satisfies PrintedJson.Doctor
  )

export const doctor = ({ options }: Invocation<"doctor">) =>
  Effect.gen(function*() {
    const probes = yield* Effect.forEach(options.probe, parseProbe)
    const version = yield* Supply.versionOf(options)
    const steps: Array<Step> = []
    const report = (step: Step) => {
      steps.push(step)
      return options.json ? Effect.void : printLine(format(step))
    }
    yield* waiting(examine({ version, probes, report, sourceOf }))
    if (options.json) yield* printLine(json(steps))
    if (steps.some(isFailed)) return yield* new Ended({ code: exitCode.problem })
  }).pipe(Effect.provide(Transport.layerOfDoctor))
