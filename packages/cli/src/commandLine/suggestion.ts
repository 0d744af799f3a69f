import leven from "leven"

/** More different characters than this are no slip of the finger. */
const maxDistance = 2

/** The name that was probably meant. */
export const closest = (text: string, names: ReadonlyArray<string>): string | undefined =>
  names
    .map((name) => ({
      name,
      distance: name.startsWith(text) && text !== "" ? 0 : leven(text, name, { maxDistance: 3 })
    }))
    .filter(({ distance, name }) => distance <= maxDistance && distance < name.length / 2)
    .toSorted((a, b) => a.distance - b.distance)[0]?.name
