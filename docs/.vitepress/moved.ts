import { writeFileSync } from "node:fs"
import { posix } from "node:path"
import { base } from "./links.ts"

/** The pages that ended, and what has their content now. */
const moved = {
  "docs/leaving": "docs/compare",
  "docs/recipes": "docs/",
  "docs/troubleshooting": "docs/operations"
}

/** Keeps the addresses of pages that ended. The host of the site cannot redirect, so a page does. */
export const writeMoved = (outDir: string): void => {
  for (const [from, to] of Object.entries(moved)) {
    const target = `${base}${to}`
    writeFileSync(
      posix.join(outDir, `${from}.html`),
      `<!doctype html><html lang="en"><meta charset="utf-8"><title>Moved</title>` +
        `<meta http-equiv="refresh" content="0; url=${target}"><link rel="canonical" href="${target}">` +
        `<h1>This page has moved</h1><p><a href="${target}">Its content is here now.</a></p></html>\n`
    )
  }
}
