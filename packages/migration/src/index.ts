export * as Comparison from "./Comparison.ts"
export * as Migration from "./Migration.ts"
export * as MigrationReport from "./MigrationReport.ts"
export * as Plan from "./Plan.ts"
