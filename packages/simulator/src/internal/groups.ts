import * as AccessScope from "@credit-data/core/AccessScope"

// The contract shows no business endpoint, so these paths and their responses are our choice.
const byScope: Readonly<Record<AccessScope.AccessScope, { readonly prefix: `/${string}/`; readonly group: string }>> = {
  "data-access:all": { prefix: "/data-access/", group: "Data Access" },
  "furnishment:all": { prefix: "/furnishment/", group: "Furnishment" },
  "serviceplus:all": { prefix: "/enablement-services/", group: "Enablement Services" }
}

/** The endpoint group of each scope. */
export const groups = AccessScope.all.map((scope) => ({ scope, ...byScope[scope] }))

/** A path of a group, without a query. */
export const fixturePath = new RegExp(`^(${groups.map(({ prefix }) => prefix.slice(0, -1)).join("|")})(/[^?#]*)?$`)
