// The parts of the chart: its width, the colours of both colour schemes, and a name for screen readers.

/** The width at which the text is as large as that of a page. On a phone, a picture shrinks by a quarter. */
export const width = 480

const styles = `
text { font: 15px -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2933; }
.small { font-size: 13.5px; }
.strong { font-weight: 600; }
.dim { fill: #51616c; }
.page { fill: #ffffff; stroke: #d5dde2; }
.ours { fill: #0b7a75; }
.other { fill: #8fa6b2; }
.quiet { fill: #eef2f4; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .dim { fill: #a9b8c3; }
  .page { fill: #161b22; stroke: #30363d; }
  .ours { fill: #3fb8b0; }
  .other { fill: #6b8290; }
  .quiet { fill: #232a33; }
}`

const escaped = (text: string): string => text.replace(/&/g, "&amp;").replace(/</g, "&lt;")

const rounded = (value: number): string => String(Math.round(value * 10) / 10)

export const text = (
  x: number,
  y: number,
  content: string,
  { anchor = "start", of = "" }: { readonly of?: string; readonly anchor?: "start" | "middle" | "end" } = {}
): string =>
  `<text class="${of}" x="${rounded(x)}" y="${rounded(y)}" text-anchor="${anchor}">${escaped(content)}</text>`

/** A box between two horizontal places. */
export const box = (from: number, to: number, y: number, height: number, of: string, radius = 3): string =>
  `<rect class="${of}" x="${rounded(from)}" y="${rounded(y)}" width="${
    rounded(Math.max(0, to - from))
  }" height="${height}" rx="${radius}"/>`

/** A picture with its name, which is its alternative text too. */
export const picture = (name: string, height: number, parts: ReadonlyArray<string>): string =>
  [
    `<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="name" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<title id="name">${escaped(name)}</title>`,
    `<style>${styles}</style>`,
    box(0.5, width - 0.5, 0.5, height - 1, "page", 8),
    ...parts,
    "</svg>",
    ""
  ].join("\n")
