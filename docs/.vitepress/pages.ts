import { execFileSync } from "node:child_process"
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { posix } from "node:path"
import { names } from "../../effect-4/proseRules.ts"
import { renamed } from "../../effect-4/src/names.ts"
import { exampleRouteOf, isPage, root, routeOf, withLinksOnSite } from "./links.ts"

export const pages: ReadonlyArray<string> = ["", "docs/", "packages/", "benchmarks/"].flatMap((folder) =>
  readdirSync(`${root}${folder}`, { recursive: folder !== "", encoding: "utf8" })
    .map((file) => `${folder}${file.replaceAll("\\", "/")}`)
    .filter(isPage)
)

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

const code = /^```(?:ts|sh)\n[^]*?\n```$/gm

/** Code for both lines of Effect, in tabs if it differs. */
const tabs = (three: string, four: string | undefined): string =>
  four === undefined || four === three
    ? three
    : [
      "::: code-group",
      three.replace(/^```\w+/, "$& [Effect 3]"),
      four.replace(/^```\w+/, "$& [Effect 4]"),
      ":::"
    ].join("\n\n")

/** The page that is about the differences has the names of both lines already. */
const isAboutDifferences = (page: string): boolean => page === "docs/effect-4.md"

/** Is it a module of the reference, which docgen has written? */
const isModule = (page: string): boolean => page.includes("/docs/modules/")

/** A name in prose, with its name on Effect 4 if that is another one. */
const withOtherName = (span: string, name: string): string => {
  const other = names[name] ?? renamed(name)?.to
  return other === undefined ? span : `${span} (Effect 4: \`${other}\`)`
}

/** Does the line around this place give the name on Effect 4 itself? */
const hasBothNames = (text: string, at: number): boolean =>
  text.slice(text.lastIndexOf("\n", at) + 1).split("\n", 1)[0]?.includes("Effect 4") === true

/** A page with the code for both lines of Effect in tabs, where it differs, and with both names in its prose. */
const withBothLines = (page: string): string => {
  const text = read(page)
  const other = new Map(sectionsOf(readForEffect4(page) ?? text))
  return sectionsOf(text).map(([heading, section]) => {
    const codes = other.get(heading)?.match(code) ?? []
    let index = 0
    return section.replaceAll(
      /^```(?:ts|sh)\n[^]*?\n```$|^( *)```[^]*?\n\1```$|`([\w.]+)`/gm,
      (found, _, name: string | undefined, at: number) =>
        name !== undefined
          ? isAboutDifferences(page) || hasBothNames(section, at) ? found : withOtherName(found, name)
          : /^```(?:ts|sh)\n/.test(found)
          ? tabs(found, codes[index++])
          : found
    )
  }).join("")
}

const exampleFiles = readdirSync(`${root}examples/src`, { recursive: true, encoding: "utf8" })
  .map((file) => `examples/src/${file.replaceAll("\\", "/")}`)
  .filter((file) => file.endsWith(".ts"))
  .toSorted()

const fenced = (text: string): string => `\`\`\`ts\n${text.trim()}\n\`\`\``

/** The pages of the examples, by their routes. */
const examplePages = (): ReadonlyMap<string, string> => {
  const texts = new Map<string, string>()
  for (const file of exampleFiles) {
    const route = exampleRouteOf(file) ?? ""
    const four = readForEffect4(file)
    const name = file.replace("examples/src/", "")
    const part = `## ${name}\n\n${tabs(fenced(read(file)), four === undefined ? undefined : fenced(four))}\n`
    texts.set(route, `${texts.get(route) ?? `# Example: ${posix.basename(route, ".md")}\n`}\n${part}`)
  }
  return texts
}

/** The routes of the examples, for the side bar. */
export const exampleRoutes: ReadonlyArray<string> = [
  ...new Set(exampleFiles.flatMap((file) => exampleRouteOf(file) ?? []))
]

/** A module of the reference under one heading, without its list of contents, which the site shows beside the page. */
const withHeading = (page: string, text: string): string =>
  isModule(page)
    ? text
      .replace(/^---\n[^]*?\n---\n/, `# ${titleOf(page)}\n`)
      .replace(/^## \w+ overview\n/m, "")
      .replace(/^---\n\n<h2 class="text-delta">[^]*?\n---\n/m, "")
      .replaceAll(/^```[^]*?^```$|^(?=#+ )/gm, (code) => code === "" ? "#" : code)
      .replace(/^##(?= )/, "#")
    : text

/** Copies the pages into a folder, with links that work on the site. */
export const collect = (folder: string): void => {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(`${folder}/public`, { recursive: true })
  cpSync(`${root}docs/.vitepress/favicon.svg`, `${folder}/public/favicon.svg`)
  for (const [route, text] of examplePages()) {
    mkdirSync(posix.join(folder, posix.dirname(route)), { recursive: true })
    writeFileSync(posix.join(folder, route), text)
  }
  for (const page of pages) {
    const target = posix.join(folder, routeOf(page))
    mkdirSync(posix.dirname(target), { recursive: true })
    for (const [, picture = ""] of read(page).matchAll(/!\[[^\]]*\]\((?!https:)([^)]+\.(?:svg|png))\)/g)) {
      cpSync(`${root}${posix.join(posix.dirname(page), picture)}`, posix.join(posix.dirname(target), picture))
    }
    writeFileSync(target, withLinksOnSite(page, withHeading(page, withBothLines(page))))
  }
}

/** The rows of the index whose second column is a page. */
const rowsOf = (text: string) =>
  Array.from(
    text.matchAll(/^\| (.+?) +\| \[[^\]]+\]\(([^)#]+\.md)\) +\|/gm),
    ([, task = "", file = ""]) => ({ task, page: posix.join("docs", file) })
  )

/** The tasks of the guide, with their pages, as its index has them. */
export const guide: ReadonlyArray<{ readonly title: string; readonly pages: ReadonlyArray<string> }> = read(
  "docs/README.md"
)
  .split(/^## /m)
  .map((section) => ({
    title: section.split("\n", 1)[0] ?? "",
    pages: rowsOf(section).map(({ page }) => page)
  }))
  .filter(({ pages }) => pages.length > 0)

export const titleOf = (page: string): string => {
  const text = read(page)
  return (/^title: (.+)$/m.exec(text)?.[1] ?? /^# (.+)$/m.exec(text)?.[1] ?? page).replace(/\.ts$/, "")
}

/** What a page is for, by the index. */
const purposes: ReadonlyMap<string, string> = new Map(
  rowsOf(read("docs/README.md")).map(({ page, task }) => [page, task])
)

/** The first sentence of a README, without links. */
const firstSentence = (page: string): string | undefined =>
  /^# [^\n]+\n\n(.*?\.)(?:\s|$)/s.exec(read(page))?.[1]
    ?.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll("\n", " ")

/** What a page is for; for a package and a module of the reference, the first sentence of its documentation. */
export const descriptionOf = (page: string): string | undefined =>
  purposes.get(page) ??
    (/^packages\/[\w-]+\/README\.md$/.test(page)
      ? firstSentence(page)
      : isModule(page)
      ? /^(?!#|---|\w+:|Added|-|<)(\S.*?\.)(?:\s|$)/m.exec(read(page).replace(/^---[^]*?\n---\n/, ""))?.[1]
      : undefined)

/** The file in the repository from which a page of the site is made. */
export const sourceOf = (route: string): string => {
  const example = exampleFiles.find((file) => exampleRouteOf(file) === route)
  if (example !== undefined) return example
  const module = /^(packages\/[\w-]+)\/docs\/modules\/(.+)\.md$/.exec(route)
  return module === null ? route.replace(/(^|\/)index\.md$/, "$1README.md") : `${module[1]}/src/${module[2]}.ts`
}

/** When each file was changed last, in milliseconds. */
const changes = new Map<string, number>()
let committed = 0
for (
  const line of execFileSync("git", ["log", "--format=%x00%ct", "--name-only"], { cwd: root, encoding: "utf8" })
    .split("\n")
) {
  if (line.startsWith("\0")) committed = Number(line.slice(1)) * 1_000
  else if (line !== "" && !changes.has(line)) changes.set(line, committed)
}

export const changedAt = (file: string): number | undefined => changes.get(file)
