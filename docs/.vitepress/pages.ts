import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { posix } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../../", import.meta.url))

const repository = "https://github.com/credit-data/credit-data/blob/main/"

/** What is on the site. All else that pages link to is shown by the repository. */
const isPage = (path: string): boolean =>
  /^(README|SECURITY|CONTRIBUTING)\.md$/.test(path) ||
  /^docs\/(decisions\/)?[\w-]+\.md$/.test(path) ||
  /^packages\/[\w-]+\/README\.md$/.test(path) ||
  /^packages\/[\w-]+\/docs\/modules\/\w+\.ts\.md$/.test(path) ||
  /^benchmarks\/(README|results\/\w+)\.md$/.test(path)

const isPicture = (path: string): boolean => /\.(svg|png)$/.test(path)

export const pages: ReadonlyArray<string> = ["", "docs/", "packages/", "benchmarks/"].flatMap((folder) =>
  readdirSync(`${root}${folder}`, { recursive: folder !== "", encoding: "utf8" })
    .map((file) => `${folder}${file.replaceAll("\\", "/")}`)
    .filter(isPage)
)

/** The first page of a folder is its README. */
export const routeOf = (page: string): string => page.replace(/README\.md$/, "index.md")

/** Where a link of a page leads on the site. */
const linkFrom = (page: string, href: string): string => {
  if (/^([a-z]+:|#)/.test(href) || isPicture(href)) return href
  const [path = "", anchor = ""] = href.split(/(?=#)/)
  const target = posix.join(posix.dirname(page), path)
  const isFolder = existsSync(`${root}${target}`) && statSync(`${root}${target}`).isDirectory()
  const file = isFolder ? posix.join(target, "README.md") : target
  return isPage(file)
    ? `${posix.relative(posix.dirname(page), routeOf(file)).replace(/^(?!\.)/, "./")}${anchor}`
    : `${repository}${target}${anchor}`
}

const read = (page: string): string => readFileSync(`${root}${page}`, "utf8")

/** The same page with its code for Effect 4, which the generator and docgen have written. */
const readForEffect4 = (page: string): string | undefined => {
  const file = `${root}effect-4/generated/${page}`
  return existsSync(file) ? readFileSync(file, "utf8") : undefined
}

/** A part of a page under one heading, with the code in it. */
const sectionsOf = (text: string): ReadonlyArray<readonly [heading: string, text: string]> => {
  const counts = new Map<string, number>()
  return text.split(/^(?=#{1,4} )/m).map((section) => {
    const [heading = ""] = section.split("\n", 1)
    const count = counts.get(heading) ?? 0
    counts.set(heading, count + 1)
    return [`${heading} ${count}`, section]
  })
}

const code = /^```ts\n[^]*?\n```$/gm

/** A page with the code for both lines of Effect in tabs, where it differs. */
const withBothLines = (page: string): string => {
  const text = read(page)
  const other = new Map(sectionsOf(readForEffect4(page) ?? text))
  return sectionsOf(text).map(([heading, section]) => {
    const codes = other.get(heading)?.match(code) ?? []
    let index = 0
    return section.replaceAll(code, (three) => {
      const four = codes[index++]
      return four === undefined || four === three
        ? three
        : [
          "::: code-group",
          three.replace("```ts", "```ts [Effect 3]"),
          four.replace("```ts", "```ts [Effect 4]"),
          ":::"
        ].join("\n\n")
    })
  }).join("")
}

/** Copies the pages into a folder, with links that work on the site. */
export const collect = (folder: string): void => {
  rmSync(folder, { recursive: true, force: true })
  for (const page of pages) {
    const target = posix.join(folder, routeOf(page))
    mkdirSync(posix.dirname(target), { recursive: true })
    for (const [, picture = ""] of read(page).matchAll(/!\[[^\]]*\]\(([^)]+\.(?:svg|png))\)/g)) {
      cpSync(`${root}${posix.join(posix.dirname(page), picture)}`, posix.join(posix.dirname(target), picture))
    }
    writeFileSync(target, withBothLines(page).replaceAll(/(?<=\]\()[^)\s]+(?=\))/g, (href) => linkFrom(page, href)))
  }
}

/** The order of the guide follows the table in its README. */
export const guide: ReadonlyArray<string> = [...read("docs/README.md").matchAll(/^\| \[[^\]]+\]\(([^)]+\.md)\)/gm)]
  .map(([, file = ""]) => posix.join("docs", file))

export const titleOf = (page: string): string => {
  const text = read(page)
  return (/^title: (.+)$/m.exec(text)?.[1] ?? /^# (.+)$/m.exec(text)?.[1] ?? page).replace(/\.ts$/, "")
}
