import { fileURLToPath } from "node:url"

const at = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url))

/** The dashboard, which is made here, and what it belongs to. */
export const files = {
  telemetry: at("docs/telemetry.md"),
  operations: at("docs/operations.md"),
  dashboard: at("packages/telemetry/dashboards/credit-data.json"),
  rules: at("packages/telemetry/alerts/credit-data.rules.yml"),
  inhibition: at("packages/telemetry/alerts/credit-data.inhibit.yml"),
  service: at("examples/src/service/main.ts")
}

/** The pages that the alerts link to. */
export const runbooks = "https://github.com/credit-data/credit-data/blob/main/docs/operations.md"
