/** The variables that a printed text exports. */
export const exported = (printed: string) =>
  Object.fromEntries(
    [...printed.matchAll(/^ {2}export (\w+)='(.*)'$/gm)].map(([, name = "", value = ""]) => [name, value])
  )
