export * as HealthCheck from "./HealthCheck.ts"
export * as Prometheus from "./Prometheus.ts"
export * as Telemetry from "./Telemetry.ts"
