import {
  BigValueColorMode,
  BigValueGraphMode,
  BigValueTextMode,
  GraphThresholdsStyleConfigBuilder,
  GraphThresholdsStyleMode,
  LegendDisplayMode,
  LegendPlacement,
  ReduceDataOptionsBuilder,
  VizLegendOptionsBuilder
} from "@grafana/grafana-foundation-sdk/common"
import {
  type Dashboard,
  DashboardBuilder,
  DashboardLinkBuilder,
  DashboardLinkType,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  type Threshold,
  ThresholdsConfigBuilder,
  ThresholdsMode,
  VariableRefresh
} from "@grafana/grafana-foundation-sdk/dashboard"
import { DataqueryBuilder } from "@grafana/grafana-foundation-sdk/prometheus"
import { PanelBuilder as StatBuilder } from "@grafana/grafana-foundation-sdk/stat"
import { PanelBuilder } from "@grafana/grafana-foundation-sdk/timeseries"
import { runbooks } from "./files.ts"

/** A panel: what it shows, its unit in Grafana, and the queries with their legends. */
interface Panel {
  readonly title: string
  readonly description: string
  readonly unit: string
  readonly queries: ReadonlyArray<readonly [expression: string, legend: string]>
  /** The colour from each value on. The first colour is for lower values too. */
  readonly thresholds?: ReadonlyArray<readonly [from: number, color: Color]>
  /** The colours of series, by the beginning of their legends. */
  readonly colors?: Readonly<Record<string, Color>>
  /** The section of the runbook that explains what to do. */
  readonly runbook?: string
}

type Color = "green" | "blue" | "orange" | "red"

const only = `credit_data_environment=~"$environment",credit_data_client_id=~"$client",tenant=~"$tenant"`

const client = "{{credit_data_client_id}}"

/** How often something happened. Most of it happens once a day, so a rate would not be readable. */
const count = (metric: string, by = "") =>
  `sum${by === "" ? "" : ` by (${by})`} (increase(credit_data_token_${metric}{${only}}[$__rate_interval]))`

const callsWith = (matchers: string) =>
  `sum by (credit_data_group, credit_data_client_id) (increase(http_client_request_duration_seconds_count` +
  `{${only},credit_data_group!=""${matchers}}[$__rate_interval]))`

/** The share of the calls of each group that end with 401. */
const rejectedShare = `${callsWith(`,http_response_status_code="401"`)} / (${
  callsWith(`,http_response_status_code!=""`)
} > 0)`

/** The calls that the program did not interrupt, and that were sent. */
const sent =
  `,error_type!~"Interrupted|Defect|Encode|InvalidUrl|InsufficientScope|InvalidClient|InvalidResponse|ServerError|` +
  `TransportError"`

/** The share of the calls of each group that get 403, 429, a status from 500, or no response. */
const failingShare = `${callsWith(`,error_type=~"403|429|5..|[A-Z].+"${sent}`)} / (${callsWith(sent)} > 0)`

/** The first row: four figures, which are green where all is well. */
export const figures: ReadonlyArray<Panel> = [
  {
    title: "Usable",
    description: "Supplies that are expected to get a token that works, of all supplies.",
    unit: "percentunit",
    queries: [[`avg(credit_data_token_usable{${only}})`, "usable"]],
    thresholds: [[0, "red"], [0.5, "orange"], [1, "green"]],
    runbook: "creditdatanotoken"
  },
  {
    title: "Time left",
    description: "Until the first token expires.",
    unit: "s",
    queries: [[`min(credit_data_token_expiry_timestamp_seconds{${only}} - time())`, "time left"]],
    thresholds: [[0, "red"], [1, "orange"], [3_600, "green"]],
    runbook: "creditdatatokenexpiressoon"
  },
  {
    title: "Failing with",
    description: "The type of the last failure, and how many supplies have it.",
    unit: "short",
    queries: [[`sum by (error_type) (credit_data_token_failing{${only}}) > 0 or vector(0)`, "{{error_type}}"]],
    thresholds: [[0, "green"], [1, "red"]],
    runbook: "alerts"
  },
  {
    title: "Calls with 401",
    description: "The highest share of calls that end with 401, of all endpoint groups.",
    unit: "percentunit",
    queries: [[`max(${rejectedShare}) or vector(0)`, "401"]],
    thresholds: [[0, "green"], [0.01, "orange"], [0.1, "red"]],
    runbook: "creditdatacallsrejected"
  }
]

export const panels: ReadonlyArray<Panel> = [
  {
    title: "Time until the token expires",
    description: "Jumps up with each renewal. Below 0, calls of a program that is not idle fail.",
    unit: "s",
    queries: [[
      `credit_data_token_expiry_timestamp_seconds{${only}} - time()`,
      `${client} {{tenant}} {{credit_data_version}} {{instance}}`
    ]],
    thresholds: [[0, "red"], [1, "orange"], [3_600, "green"]],
    runbook: "creditdatatokenexpiressoon"
  },
  {
    title: "Token requests",
    description: "One per token lifetime and process, unless requests fail or tokens are rejected.",
    unit: "short",
    queries: [[
      count("requests_total", "outcome, error_type, credit_data_client_id"),
      `{{outcome}} {{error_type}} ${client}`
    ]],
    colors: { failed: "red", obtained: "blue", renewed: "green" },
    runbook: "situations"
  },
  {
    title: "Reasons of token requests",
    description: "Due: the renewal of a valid token. Nothing: there was no valid token, so calls waited.",
    unit: "short",
    queries: [[count("requests_total", "reason"), "{{reason}}"]]
  },
  {
    title: "Duration of token requests",
    description: "The 95th percentile and the average, where there were requests.",
    unit: "s",
    queries: [
      [
        `histogram_quantile(0.95, sum by (le) (increase(credit_data_token_request_duration_seconds_bucket{${only}}[$__rate_interval])))` +
        ` and on () sum(increase(credit_data_token_request_duration_seconds_count{${only}}[$__rate_interval])) > 0`,
        "95 %"
      ],
      [
        `sum(increase(credit_data_token_request_duration_seconds_sum{${only}}[$__rate_interval])) / ` +
        `(sum(increase(credit_data_token_request_duration_seconds_count{${only}}[$__rate_interval])) > 0)`,
        "average"
      ]
    ]
  },
  {
    title: "Processes without a usable token, and those whose token requests fail",
    description: "The second ones by the type of the last failure. A valid token hides a failing renewal.",
    unit: "short",
    queries: [
      [
        `count by (credit_data_client_id) (credit_data_token_usable{${only}} == 0) or vector(0)`,
        `without a usable token ${client}`
      ],
      [`sum by (error_type, credit_data_client_id) (credit_data_token_failing{${only}})`, `{{error_type}} ${client}`]
    ],
    colors: { without: "red" },
    runbook: "creditdatanotoken"
  },
  {
    title: "Rejected tokens",
    description:
      "Tokens that the business API rejected with a 401. A revoked token is replaced before a caller sees its 401.",
    unit: "short",
    queries: [[count("invalidations_total", "credit_data_client_id"), `rejected ${client}`]],
    colors: { rejected: "blue" }
  },
  {
    title: "Calls with 401",
    description: "The share of each group's calls that end with 401.",
    unit: "percentunit",
    queries: [[rejectedShare, `{{credit_data_group}} ${client}`]],
    thresholds: [[0, "green"], [0.1, "red"]],
    runbook: "creditdatacallsrejected"
  },
  {
    title: "Calls that fail",
    description: "The share of each group's calls that get 403, 429, a status from 500, or no response.",
    unit: "percentunit",
    queries: [[failingShare, `{{credit_data_group}} ${client}`]],
    thresholds: [[0, "green"], [0.5, "red"]],
    runbook: "creditdatacallsfailing"
  },
  {
    title: "Missing scopes",
    description: "Supplies whose token lacks a scope that was requested.",
    unit: "short",
    queries: [[
      `sum by (scope, credit_data_client_id) (credit_data_token_scope_missing{${only}})`,
      `{{scope}} ${client}`
    ]],
    runbook: "creditdatascopemissing"
  },
  {
    title: "Callers that wait for a token",
    description: "More than a few mean that the token endpoint is slow or down.",
    unit: "short",
    queries: [[`sum(credit_data_token_callers_waiting{${only}})`, "waiting"]]
  },
  {
    title: "Calls",
    description: "By group and status, per second. Calls without a response have the reason.",
    unit: "reqps",
    queries: [[
      `sum by (credit_data_group, http_response_status_code, error_type, credit_data_client_id) ` +
      `(rate(http_client_request_duration_seconds_count{${only},error_type!="Interrupted"}[$__rate_interval]))`,
      `{{credit_data_group}} {{http_response_status_code}} {{error_type}} ${client}`
    ]]
  },
  {
    title: "Interrupted calls",
    description:
      "Calls that their program gave up, by Effect.timeout for example, per second. Many mean that the API is slow.",
    unit: "reqps",
    queries: [[
      `sum by (credit_data_group) (rate(http_client_request_duration_seconds_count{${only},error_type="Interrupted"}` +
      `[$__rate_interval])) or vector(0)`,
      "{{credit_data_group}}"
    ]],
    colors: { "": "orange" },
    runbook: "creditdatacallsunanswered"
  },
  {
    title: "Calls that have not ended",
    description:
      "By group. A number that only grows means that the API does not respond to calls without a time limit.",
    unit: "short",
    queries: [[
      `sum by (credit_data_group, credit_data_client_id) (http_client_active_requests{${only},credit_data_group!=""})`,
      `{{credit_data_group}} ${client}`
    ]],
    runbook: "creditdatacallsunanswered"
  },
  {
    title: "Duration of calls",
    description: "The 95th percentile of each group, path template and status, the wait for a token included.",
    unit: "s",
    queries: [[
      `histogram_quantile(0.95, sum by (le, credit_data_group, url_template, http_response_status_code) ` +
      `(rate(http_client_request_duration_seconds_bucket{${only}}[$__rate_interval])))`,
      "{{credit_data_group}} {{url_template}} {{http_response_status_code}}"
    ]]
  },
  {
    title: "Tokens served",
    description: "How often a caller got a token, per second.",
    unit: "reqps",
    queries: [[`sum(rate(credit_data_token_served_total{${only}}[$__rate_interval]))`, "served"]]
  },
  {
    title: "Shared tokens",
    description: "Responses taken from a shared store, so that no token request was sent.",
    unit: "short",
    queries: [[count("shared_total", "outcome"), "{{outcome}}"]]
  },
  {
    title: "Shared store",
    description:
      "Faults by type. A store is used about once in the life of a token, so no fault does not mean that it works.",
    unit: "short",
    queries: [[count("store_faults_total", "error_type"), "{{error_type}}"]],
    runbook: "creditdatastoreunavailable"
  }
]

const datasource = { type: "prometheus", uid: "${datasource}" }

const legend = new VizLegendOptionsBuilder()
  .showLegend(true)
  .displayMode(LegendDisplayMode.List)
  .placement(LegendPlacement.Bottom)

const steps = (thresholds: Panel["thresholds"] = []): Array<Threshold> =>
  thresholds.map(([value, color], index) => ({ value: index === 0 ? null : value, color }))

const figure = ({ thresholds, title, unit }: Panel) =>
  new StatBuilder()
    .unit(unit)
    .graphMode(BigValueGraphMode.None)
    .colorMode(BigValueColorMode.Background)
    .thresholds(new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps(steps(thresholds)))
    // the name of the series contains the error
    .textMode(title === "Failing with" ? BigValueTextMode.ValueAndName : BigValueTextMode.Value)
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(["lastNotNull"]))

const chart = ({ colors = {}, thresholds, unit }: Panel) => {
  const panel = new PanelBuilder().unit(unit).legend(legend)
  if (thresholds !== undefined) {
    panel
      .thresholds(new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps(steps(thresholds)))
      .thresholdsStyle(new GraphThresholdsStyleConfigBuilder().mode(GraphThresholdsStyleMode.Dashed))
  }
  for (const [beginning, color] of Object.entries(colors)) {
    panel.overrideByRegexp(`/^${beginning}/`, [{ id: "color", value: { mode: "fixed", fixedColor: color } }])
  }
  return panel
}

const linkTo = (title: string, section: string) =>
  new DashboardLinkBuilder(title).type(DashboardLinkType.Link).url(`${runbooks}#${section}`).targetBlank(true)

/** Chooses values of a label. By default all of them, and series without the label too. */
const filter = (name: string, title: string, label: string) =>
  new QueryVariableBuilder(name)
    .label(title)
    .datasource(datasource)
    .query(`label_values(credit_data_token_served_total, ${label})`)
    .multi(true)
    .includeAll(true)
    .allValue(".*")
    .refresh(VariableRefresh.OnTimeRangeChanged)

const figureHeight = 4
const figureWidth = 6
const chartHeight = 8

/** The dashboard for Grafana: four figures, and two charts in each row below. */
export const dashboard = () => {
  const builder = new DashboardBuilder("Access tokens of the credit-data API")
    .uid("credit-data-tokens")
    .tags(["credit-data"])
    .refresh("1m")
    .time({ from: "now-24h", to: "now" })
    .link(linkTo("Runbook", "alerts"))
    .withVariable(new DatasourceVariableBuilder("datasource").label("Data source").type("prometheus"))
    .withVariable(filter("environment", "Environment", "credit_data_environment"))
    .withVariable(filter("client", "Client", "credit_data_client_id"))
    .withVariable(filter("tenant", "Tenant", "tenant"))
  let id = 0
  const add = (panel: StatBuilder | PanelBuilder, { description, queries, runbook, title }: Panel) => {
    panel.id(++id).title(title).description(description).datasource(datasource)
    if (runbook !== undefined) panel.links([linkTo("What to do", runbook)])
    for (const [expression, legend] of queries) {
      panel.withTarget(new DataqueryBuilder().expr(expression).legendFormat(legend))
    }
    builder.withPanel(panel)
  }
  for (const [index, panel] of figures.entries()) {
    add(figure(panel).gridPos({ h: figureHeight, w: figureWidth, x: index * figureWidth, y: 0 }), panel)
  }
  for (const [index, panel] of panels.entries()) {
    const y = figureHeight + Math.floor(index / 2) * chartHeight
    add(chart(panel).gridPos({ h: chartHeight, w: 12, x: index % 2 * 12, y }), panel)
  }
  return builder.build()
}

/** The builder gives them to every variable, and Grafana's schema allows them for intervals only. */
const ofIntervals: ReadonlySet<string> = new Set(["auto", "auto_min", "auto_count"])

/** A dashboard as its file. */
export const text = (dashboard: Dashboard): string =>
  `${JSON.stringify(dashboard, (key, value) => ofIntervals.has(key) ? undefined : value, 2)}\n`
