const parameters = new URLSearchParams(location.search)

/** A part of what the page shows, from its address. It is empty if the address does not have it. */
export const remembered = (name: string): string => parameters.get(name) ?? ""

/** Puts a part of what the page shows into its address, so that a reload or a copied address shows it again. */
export const remember = (name: string, value: string): void => {
  if (value) parameters.set(name, value)
  else parameters.delete(name)
  parameters.sort()
  history.replaceState(null, "", `/${parameters.size ? `?${parameters}` : ""}`)
}
