import {
  BigValueColorMode,
  BigValueGraphMode,
  BigValueTextMode,
  LegendDisplayMode,
  LegendPlacement,
  ReduceDataOptionsBuilder,
  VizLegendOptionsBuilder
} from "@grafana/grafana-foundation-sdk/common"
import {
  type Dashboard,
  DashboardBuilder,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  VariableRefresh
} from "@grafana/grafana-foundation-sdk/dashboard"
import { DataqueryBuilder } from "@grafana/grafana-foundation-sdk/prometheus"
import { PanelBuilder as StatBuilder } from "@grafana/grafana-foundation-sdk/stat"
import { PanelBuilder } from "@grafana/grafana-foundation-sdk/timeseries"

/** A panel: what it shows, its unit in Grafana, and the queries with their legends. */
interface Panel {
  readonly title: string
  readonly description: string
  readonly unit: string
  readonly queries: ReadonlyArray<readonly [expression: string, legend: string]>
}

const only = `credit_data_environment=~"$environment"`

/** How often something happened. Most of it happens once a day, so a rate would not be readable. */
const count = (metric: string, by = "") =>
  `sum${by === "" ? "" : ` by (${by})`} (increase(credit_data_token_${metric}{${only}}[$__rate_interval]))`

/** The first row: three figures. */
export const figures: ReadonlyArray<Panel> = [
  {
    title: "Usable",
    description: "Supplies that are expected to get a token that works, of all supplies.",
    unit: "percentunit",
    queries: [[`avg(credit_data_token_usable{${only}})`, "usable"]]
  },
  {
    title: "Time left",
    description: "Until the first token expires.",
    unit: "s",
    queries: [[`min(credit_data_token_expiry_timestamp_seconds{${only}} - time())`, "time left"]]
  },
  {
    title: "Failing with",
    description: "The type of the last failure, and how many supplies have it.",
    unit: "short",
    queries: [[`sum by (error_type) (credit_data_token_failing{${only}}) > 0 or vector(0)`, "{{error_type}}"]]
  }
]

export const panels: ReadonlyArray<Panel> = [
  {
    title: "Time until the token expires",
    description: "Jumps up with each renewal. Below 0, calls of a program that is not idle fail.",
    unit: "s",
    queries: [[`credit_data_token_expiry_timestamp_seconds{${only}} - time()`, "{{server_address}} {{instance}}"]]
  },
  {
    title: "Token requests",
    description: "One per token lifetime and process, unless requests fail or tokens are rejected.",
    unit: "short",
    queries: [[count("requests_total", "outcome, error_type"), "{{outcome}} {{error_type}}"]]
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
      [`count(credit_data_token_usable{${only}} == 0) or vector(0)`, "without a usable token"],
      [`sum by (error_type) (credit_data_token_failing{${only}})`, "{{error_type}}"]
    ]
  },
  {
    title: "Rejected tokens",
    description: "Tokens that the business API rejected with a 401, and the longest row of them.",
    unit: "short",
    queries: [
      [count("invalidations_total"), "rejected"],
      [`max(credit_data_token_consecutive_rejections{${only}})`, "in a row"]
    ]
  },
  {
    title: "Missing scopes",
    description: "Supplies whose token lacks a scope that was requested.",
    unit: "short",
    queries: [[`sum by (scope) (credit_data_token_scope_missing{${only}})`, "{{scope}}"]]
  },
  {
    title: "Callers that wait for a token",
    description: "More than a few mean that the token endpoint is slow or down.",
    unit: "short",
    queries: [[`sum(credit_data_token_callers_waiting{${only}})`, "waiting"]]
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
    description: "Faults by type, and the processes for which the store did not work the last time.",
    unit: "short",
    queries: [
      [count("store_faults_total", "error_type"), "{{error_type}}"],
      [`count(credit_data_token_store_available{${only}} == 0) or vector(0)`, "without the store"]
    ]
  },
  {
    title: "Lost events",
    description: "The other counters are too low by what was lost.",
    unit: "short",
    queries: [[count("events_lost_total"), "lost"]]
  }
]

const datasource = { type: "prometheus", uid: "${datasource}" }

const legend = new VizLegendOptionsBuilder()
  .showLegend(true)
  .displayMode(LegendDisplayMode.List)
  .placement(LegendPlacement.Bottom)

const figure = ({ title, unit }: Panel) =>
  new StatBuilder()
    .unit(unit)
    .graphMode(BigValueGraphMode.None)
    .colorMode(BigValueColorMode.None)
    // the name of the series contains the error
    .textMode(title === "Failing with" ? BigValueTextMode.ValueAndName : BigValueTextMode.Value)
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(["lastNotNull"]))

const chart = ({ unit }: Panel) => new PanelBuilder().unit(unit).legend(legend)

const figureHeight = 4
const chartHeight = 8

/** The dashboard for Grafana: three figures, and two charts in each row below. */
export const dashboard = () => {
  const builder = new DashboardBuilder("Access tokens of the credit-data API")
    .uid("credit-data-tokens")
    .tags(["credit-data"])
    .refresh("1m")
    .time({ from: "now-24h", to: "now" })
    .withVariable(new DatasourceVariableBuilder("datasource").label("Data source").type("prometheus"))
    .withVariable(
      new QueryVariableBuilder("environment")
        .label("Environment")
        .datasource(datasource)
        .query("label_values(credit_data_token_served_total, credit_data_environment)")
        .multi(true)
        .includeAll(true)
        .refresh(VariableRefresh.OnTimeRangeChanged)
    )
  let id = 0
  const add = (panel: StatBuilder | PanelBuilder, { description, queries, title }: Panel) => {
    panel.id(++id).title(title).description(description).datasource(datasource)
    for (const [expression, legend] of queries) {
      panel.withTarget(new DataqueryBuilder().expr(expression).legendFormat(legend))
    }
    builder.withPanel(panel)
  }
  for (const [index, panel] of figures.entries()) {
    add(figure(panel).gridPos({ h: figureHeight, w: 8, x: index * 8, y: 0 }), panel)
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
