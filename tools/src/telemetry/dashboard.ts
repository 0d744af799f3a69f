import {
  DashboardBuilder,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  VariableRefresh
} from "@grafana/grafana-foundation-sdk/dashboard"
import { DataqueryBuilder } from "@grafana/grafana-foundation-sdk/prometheus"
import { PanelBuilder } from "@grafana/grafana-foundation-sdk/timeseries"

/** A panel: what it shows, its unit in Grafana, and the queries with their legends. */
interface Panel {
  readonly title: string
  readonly description: string
  readonly unit: string
  readonly queries: ReadonlyArray<readonly [expression: string, legend: string]>
}

const only = `credit_data_environment=~"$environment"`

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
    unit: "reqps",
    queries: [[
      `sum by (outcome, error_type) (rate(credit_data_token_requests_total{${only}}[$__rate_interval]))`,
      "{{outcome}} {{error_type}}"
    ]]
  },
  {
    title: "Reasons of token requests",
    description: "Due: the renewal of a valid token. Nothing: there was no valid token, so calls waited.",
    unit: "reqps",
    queries: [[
      `sum by (reason) (rate(credit_data_token_requests_total{${only}}[$__rate_interval]))`,
      "{{reason}}"
    ]]
  },
  {
    title: "Duration of token requests",
    description: "The 95th percentile, and the average.",
    unit: "s",
    queries: [
      [
        `histogram_quantile(0.95, sum by (le) (rate(credit_data_token_request_duration_seconds_bucket{${only}}[$__rate_interval])))`,
        "95 %"
      ],
      [
        `sum(rate(credit_data_token_request_duration_seconds_sum{${only}}[$__rate_interval])) / ` +
        `sum(rate(credit_data_token_request_duration_seconds_count{${only}}[$__rate_interval]))`,
        "average"
      ]
    ]
  },
  {
    title: "Processes without a usable token, and those whose token requests fail",
    description: "The second ones by the type of the last failure. A valid token hides a failing renewal.",
    unit: "short",
    queries: [
      [`count(credit_data_token_usable{${only}} == 0)`, "without a usable token"],
      [`sum by (error_type) (credit_data_token_failing{${only}})`, "{{error_type}}"]
    ]
  },
  {
    title: "Rejected tokens",
    description: "Tokens that the business API rejected with a 401.",
    unit: "reqps",
    queries: [[`sum(rate(credit_data_token_invalidations_total{${only}}[$__rate_interval]))`, "rejected"]]
  },
  {
    title: "Callers that wait for a token",
    description: "More than a few mean that the token endpoint is slow or down.",
    unit: "short",
    queries: [[`sum(credit_data_token_callers_waiting{${only}})`, "waiting"]]
  },
  {
    title: "Tokens served",
    description: "How often a caller got a token.",
    unit: "reqps",
    queries: [[`sum(rate(credit_data_token_served_total{${only}}[$__rate_interval]))`, "served"]]
  }
]

const datasource = { type: "prometheus", uid: "${datasource}" }

/** The dashboard for Grafana: two panels in a row. */
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
  for (const [index, { description, queries, title, unit }] of panels.entries()) {
    const panel = new PanelBuilder()
      .title(title)
      .description(description)
      .unit(unit)
      .datasource(datasource)
      .gridPos({ h: 8, w: 12, x: index % 2 * 12, y: Math.floor(index / 2) * 8 })
    for (const [expression, legend] of queries) {
      panel.withTarget(new DataqueryBuilder().expr(expression).legendFormat(legend))
    }
    builder.withPanel(panel)
  }
  return `${JSON.stringify(builder.build(), null, 2)}\n`
}
