import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Answers from "../answers.ts"
import { examine, type Result, type Step } from "../doctor/doctor.ts"
import { Ended, exitCode } from "../exitCode.ts"
import * as Supply from "../supply.ts"
import { colored } from "../color.ts"
import { waiting } from "../spinner.ts"
import { answer } from "../terminal.ts"
import * as Transport from "../transport.ts"

const marks: Readonly<Record<Result, string>> = {
  ok: colored("green", "ok     "),
  warning: colored("yellow", "warning"),
  failed: colored("red", "failed "),
  skipped: colored("dim", "skipped")
}

const nameWidth = "configuration".length
const timeWidth = "10000 ms".length

const indent = " ".repeat("warning".length + 2 + nameWidth + 2 + timeWidth + 2)

/** Breaks a text into lines that fit beside the other columns. */
const wrapped = (text: string): string => {
  const width = Math.max(30, (process.stdout.columns ?? 120) - indent.length)
  const lines: Array<string> = []
  for (const word of text.split(" ")) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines.join(`\n${indent}`)
}

/** A line for the step, and below it what to do. */
const print = ({ advice, detail, millis, name, result }: Step): string => {
  const time = result === "skipped" ? "" : `${millis} ms`
  const texts = [detail, ...Option.toArray(advice)].map(wrapped)
  return `${marks[result]}  ${name.padEnd(nameWidth)}  ${time.padStart(timeWidth)}  ${texts.join(`\n${indent}`)}`
}

const isFailed = ({ result }: Step) => result === "failed"

const json = (steps: ReadonlyArray<Step>): string =>
  JSON.stringify(
    {
      version: 1,
      ok: !steps.some(isFailed),
      steps: steps.map(({ advice, ...step }) => ({ ...step, advice: Option.getOrNull(advice) }))
    } satisfies Answers.Doctor
  )

export const doctor = Command.make("doctor", {
  auth: Supply.options.auth,
  probe: Options.text("probe").pipe(
    Options.optional,
    Options.withDescription("A path of the business API to read with the token, for example /data-access/consumers/42")
  ),
  json: Options.boolean("json").pipe(Options.withDescription("Print JSON"))
}, ({ json: isJson, probe, ...choice }) =>
  Effect.gen(function*() {
    const version = yield* Supply.versionOf(choice)
    const steps: Array<Step> = []
    const report = (step: Step) => {
      steps.push(step)
      return isJson ? Effect.void : answer(print(step))
    }
    yield* waiting(examine({ version, probe, report }))
    if (isJson) yield* answer(json(steps))
    if (steps.some(isFailed)) return yield* new Ended({ code: exitCode.problem })
  }).pipe(Effect.provide(Transport.layerOfDoctor))).pipe(
    Command.withDescription("Find out what is wrong: each step with its result, its time and what to do")
  )
