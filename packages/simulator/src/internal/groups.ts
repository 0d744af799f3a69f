import { groups as endpointGroups } from "@credit-data/core/Internal"

/** The endpoint groups. The contract shows no business endpoint, so their paths and responses are our choice: `/data-access/` for Data Access. */
export const groups = endpointGroups.map(({ name, scope }) => ({
  scope,
  group: name,
  prefix: `/${name.toLowerCase().replaceAll(" ", "-")}/` as const
}))

/** A path of a group, without a query. */
export const fixturePath = new RegExp(`^(${groups.map(({ prefix }) => prefix.slice(0, -1)).join("|")})(/[^?#]*)?$`)
