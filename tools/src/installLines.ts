/** A packed package. */
interface Release {
  readonly name: string
  readonly file: string
  /** Its dependencies by their names, other packages too. */
  readonly dependencies: Readonly<Record<string, string>>
}

const tag = "@effect-3"

const named = /@credit-data\/[\w-]+/g

/** Whether a line of a page installs packages for Effect 3. */
export const isForEffect3 = (line: string): boolean => line.includes(tag)

/** The packages with their dependencies among the releases, because npm would look for them in the registry. */
export const withDependencies = (
  names: ReadonlyArray<string>,
  releases: ReadonlyArray<Release>
): ReadonlySet<string> => {
  const found = new Set(names)
  for (const name of found) {
    const { dependencies = {} } = releases.find((release) => release.name === name) ?? {}
    for (const dependency of Object.keys(dependencies)) {
      if (releases.some(({ name }) => name === dependency)) found.add(dependency)
    }
  }
  return found
}

/**
 * The lines of pages that install these packages, with their files instead of their names. A line is left out if the lines before it name all
 * of its packages.
 */
export const installLines = (
  pages: ReadonlyArray<string>,
  releases: ReadonlyArray<Release>,
  quoted: (file: string) => string
): ReadonlyArray<string> => {
  const seen = new Set<string>()
  const lines = pages.flatMap((page) => page.split("\n").filter((line) => line.startsWith("npm i ")))
    .map((line) => ({ line, names: Array.from(line.matchAll(named), ([name]) => name) }))
    .filter(({ names }) => {
      const isNew = names.some((name) => !seen.has(name))
      for (const name of names) seen.add(name)
      return isNew
    })
  return lines.map(({ line, names }) => {
    // a dependency of the program must not become one of its development
    const files = (line.startsWith("npm i -D") ? names : [...withDependencies(names, releases)])
      .map((name) => quoted(releases.find((release) => release.name === name)?.file ?? name))
    return line.replace(/(@credit-data\/[\w-]+(@effect-3)? ?)+/, `${files.join(" ")} `).trimEnd()
  })
}
