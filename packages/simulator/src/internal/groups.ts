import type * as AccessScope from "@credit-data/core/AccessScope"

// The contract shows no business endpoint, so these paths and their responses are our choice.
export const groups: ReadonlyArray<{
  readonly prefix: string
  readonly group: string
  readonly scope: AccessScope.AccessScope
}> = [
  { prefix: "/data-access/", group: "Data Access", scope: "data-access:all" },
  { prefix: "/furnishment/", group: "Furnishment", scope: "furnishment:all" },
  { prefix: "/enablement-services/", group: "Enablement Services", scope: "serviceplus:all" }
]

/** A path of a group, without a query. */
export const fixturePath = /^\/(data-access|furnishment|enablement-services)(\/[^?#]*)?$/
