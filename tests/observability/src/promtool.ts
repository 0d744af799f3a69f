import { run } from "@credit-data/test-support/childProcess"
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { Effect } from "effect"

/** A series in the notation of promtool: `0x5 1x10` is 0 six times, and then 1 eleven times. One value per interval. */
export interface Series {
  readonly series: string
  readonly values: string
}

/** Whether an expression has the value 1 at this second, by `promtool test rules`. */
const isOne = (
  rules: string,
  expression: string,
  series: ReadonlyArray<Series>,
  second: number,
  interval = "1m"
) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    yield* fs.writeFileString(`${folder}/rules.yml`, rules)
    const test = {
      rule_files: ["rules.yml"],
      evaluation_interval: interval,
      tests: [{
        interval,
        input_series: series,
        promql_expr_test: [{
          expr: expression,
          eval_time: `${second}s`,
          exp_samples: [{ labels: "{}", value: 1 }]
        }]
      }]
    }
    // JSON is YAML
    yield* fs.writeFileString(`${folder}/test.json`, JSON.stringify(test))
    const { exitCode, stderr, stdout } = yield* run(["promtool", "test", "rules", `${folder}/test.json`])
    const output = stdout + stderr
    if (exitCode === 0) return true
    if (/got:\s*nil/.test(output)) return false
    return yield* Effect.dieMessage(output)
  }).pipe(Effect.scoped, Effect.provide(NodeContext.layer))

/** The rules with this alert alone, because evaluating the others takes most of the time. */
const withAlert = (rules: string, alert: string): string => {
  const [head = "", ...alerts] = rules.split(/(?=^ +- alert: )/m)
  return head + alerts.filter((text) => text.includes(`- alert: ${alert}\n`)).join("")
}

/** An alert that fires, with the labels that match, such as `tenant!="a"`. */
const firing = (alert: string, matchers = "") =>
  `ALERTS{alertname="${alert}",alertstate="firing"${matchers === "" ? "" : `,${matchers}`}}`

/** Whether an alert fires with these series at this minute. */
export const fires = (
  rules: string,
  alert: string,
  series: ReadonlyArray<Series>,
  minute: number,
  { interval, matchers }: { readonly matchers?: string; readonly interval?: string } = {}
) => isOne(withAlert(rules, alert), `count(count(${firing(alert, matchers)}))`, series, minute * 60, interval)

/** Whether an alert fires with these series at any time from the start to this minute. */
export const everFires = (
  rules: string,
  alert: string,
  series: ReadonlyArray<Series>,
  minute: number,
  matchers?: string
) =>
  isOne(
    withAlert(rules, alert),
    `count(count(max_over_time(${firing(alert, matchers)}[${minute}m])))`,
    series,
    minute * 60
  )

/**
 * Whether at least so many tenants meet a condition at this minute. In its PromQL, the series `firing` is 1 for each tenant for which the
 * alert fires, and 0 for the others.
 */
export const tenants = (
  rules: string,
  alert: string,
  series: ReadonlyArray<Series>,
  minute: number,
  { atLeast, condition, interval }: {
    readonly condition: string
    readonly atLeast: number
    readonly interval: string
  }
) => {
  const state = `count by (tenant) (${firing(alert)}) or 0 * count by (tenant) (${series[0]?.series.split("{")[0]})`
  return isOne(
    // a recorded series is much cheaper than a subquery
    `${withAlert(rules, alert).trimEnd()}\n      - record: firing\n        expr: ${JSON.stringify(state)}\n`,
    `count(count(${condition}) >= ${atLeast})`,
    series,
    minute * 60,
    interval
  )
}

/** Checks rules by `promtool check rules`, and metrics by `promtool check metrics`. */
export const check = (what: "rules" | "metrics", text: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const file = yield* fs.makeTempFileScoped()
    yield* fs.writeFileString(file, text)
    const { exitCode, stderr, stdout } = yield* (what === "rules"
      ? run(["promtool", "check", "rules", file])
      : run(["promtool", "check", "metrics"], { input: text }))
    return { isValid: exitCode === 0, output: stdout + stderr }
  }).pipe(Effect.scoped, Effect.provide(NodeContext.layer))
