/** Is this a version of the second line? `0.x`, before the first release, belongs to both. */
export const isEven = (version: string): boolean => {
  const major = Number.parseInt(version, 10)
  return major > 0 && major % 2 === 0
}

/** The version of the first line that takes the place of this one: the next odd major version. */
export const odd = (version: string): string =>
  isEven(version) ? version.replace(/^\d+/, (major) => String(Number(major) + 1)) : version
