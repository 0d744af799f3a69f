import * as Effect from "effect/Effect"
import type { Invocation } from "../commandLine/commands.ts"
import { examine } from "../doctor/doctor.ts"
import type { Result, Step } from "../doctor/step.ts"
import { exitCode } from "../exitCode.ts"
import { Ended } from "../failure.ts"
import { parseProbe } from "../probe.ts"
import { printLine, waiting } from "../terminal.ts"
import { colored, columnsOr, jsonText, wrapped } from "../text.ts"
import * as Transport from "../transport.ts"

const colors = { ok: "green", warning: "yellow", failed: "red", skipped: "dim" } as const satisfies Record<
  Result,
  string
>

const resultWidth = "warning".length
const nameWidth = "configuration".length
const timeWidth = "10000 ms".length

/** Where the texts begin, beside the other columns. */
const besides = resultWidth + 2 + nameWidth + 2 + timeWidth + 2

/** A terminal that is narrower than this has no room for texts beside the other columns. */
const narrow = 72

/** A line for the step, and below it what to do. Several things to do are a list. */
const format = ({ advice, detail, millis, name, notes, result }: Step): string => {
  const columns = columnsOr(120)
  const isNarrow = columns < narrow
  const indent = " ".repeat(isNarrow ? 2 : besides)
  const paragraph = (text: string, bullet = "") =>
    wrapped(text, columns - indent.length - bullet.length)
      .map((line, index) => `${indent}${index === 0 ? bullet : " ".repeat(bullet.length)}${line}`)
  const time = result === "skipped" ? "" : `${millis} ms`
  const mark = colored(colors[result], result.padEnd(resultWidth))
  const head = `${mark}  ${name.padEnd(nameWidth)}  ${time.padStart(timeWidth)}`
  const texts = [
    ...paragraph(detail),
    ...advice.flatMap((each) => paragraph(each, advice.length === 1 ? "" : "- ")),
    ...notes.flatMap((each) => paragraph(each))
  ].join("\n")
  return isNarrow ? `${head.trimEnd()}\n${texts}` : `${head}  ${texts.trimStart()}`
}

export const doctor = ({ options }: Invocation<"doctor">) =>
  Effect.gen(function*() {
    const probes = yield* Effect.forEach(options.probe, parseProbe)
    const steps: Array<Step> = []
    const report = (step: Step) => {
      steps.push(step)
      return options.json ? Effect.void : printLine(format(step))
    }
    yield* waiting(examine({ auth: options.auth, probes, report, timeLimit: options.timeout }))
    const ok = steps.every(({ result }) => result !== "failed")
    if (options.json) yield* printLine(jsonText({ ok, steps }))
    if (!ok) return yield* new Ended({ code: exitCode.problem })
  }).pipe(Effect.provide(Transport.layerOfDoctor(options)))
