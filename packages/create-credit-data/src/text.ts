/** The columns of a text for people. A terminal that does not know its size reports none, and long lines are hard to read. */
export const widthOf = ({ columns }: { readonly columns?: number | undefined }): number => Math.min(columns || 80, 80)

/** A paragraph in lines of this width. A word is never broken, so that it can be copied. */
const wrapped = (text: string, width: number): string =>
  text.split(" ").reduce((lines, word) => {
    const last = lines.slice(lines.lastIndexOf("\n") + 1)
    return lines === "" ? word : `${lines}${last.length + 1 + word.length > width ? "\n" : " "}${word}`
  }, "")

/** Paragraphs, with lines that stay as they are: those that begin with a space. */
export const page = (paragraphs: ReadonlyArray<string>, width: number): string =>
  `${paragraphs.map((text) => text.startsWith(" ") ? text : wrapped(text, width)).join("\n\n")}\n`

/** A word of a shell. */
export const quoted = (text: string): string =>
  /^[\w./:\\@-]+$/.test(text)
    ? text
    : process.platform === "win32"
    ? `"${text}"`
    : `'${text.replaceAll("'", `'\\''`)}'`
