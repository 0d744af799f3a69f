/** Is this a version of the second line? `0.x`, before the first release, belongs to both. */
export const isEven = (version: string): boolean => {
  const major = Number.parseInt(version, 10)
  return major > 0 && major % 2 === 0
}

/** The version of the first line that takes the place of this one: the next odd major version. */
export const odd = (version: string): string =>
  isEven(version) ? version.replace(/^\d+/, (major) => String(Number(major) + 1)) : version

/** A changelog of changesets in which this version is the next odd major version: in its headings, and where it names dependencies. */
export const withOddMajor = (changelog: string, version: string): string =>
  changelog.replaceAll(
    /^(## | {2}- @credit-data\/[\w-]+@)(\S+)$/gm,
    (line, before: string, found: string) => found === version ? `${before}${odd(version)}` : line
  )

/**
 * A changelog with an entry in its newest section, if it has none. A release of the libraries alone is also a release of a package that
 * contains them.
 */
export const withLibraries = (changelog: string): string =>
  changelog.replace(
    /^(## \S+\n)\s*(?=## |$(?![\s\S]))/m,
    "$1\n- Contains this version of the libraries, whose `CHANGELOG.md` list the changes.\n\n"
  )
