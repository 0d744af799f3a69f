/**
 * The endpoint groups of the API (service contract, sections 1 and 4.1), each with the scope that its calls need. Everything else about
 * groups and scopes follows from this list.
 */
export const groups = [
  { key: "dataAccess", name: "Data Access", scope: "data-access:all" },
  { key: "furnishment", name: "Furnishment", scope: "furnishment:all" },
  { key: "enablementServices", name: "Enablement Services", scope: "serviceplus:all" }
] as const
