import leven from "leven"

/** More different characters than this are no slip of the finger. */
const maxDistance = 2

const distanceOf = (a: string, b: string): number => leven(a, b, { maxDistance: maxDistance + 1 })

/** The name without case and separators, which are often mistaken. */
export const plain = (name: string): string => name.toUpperCase().replaceAll(/[^A-Z0-9]/g, "")

/** Are these the same name, except for case, separators and a slip of the finger? */
export const areSimilar = (a: string, b: string): boolean => distanceOf(plain(a), plain(b)) <= maxDistance

/** A question with the name that was probably meant. */
export const didYouMean = (text: string, names: ReadonlyArray<string>, prefix = ""): string => {
  const [closest] = names
    .map((name) => ({ name, distance: text !== "" && name.startsWith(text) ? 0 : distanceOf(text, name) }))
    .filter(({ distance, name }) => distance <= maxDistance && distance < name.length / 2)
    .toSorted((a, b) => a.distance - b.distance)
  return closest === undefined ? "" : ` Did you mean ${prefix}${closest.name}?`
}
