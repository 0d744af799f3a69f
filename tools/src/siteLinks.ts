// Follows every link and anchor of the built site. Exits with 1 if one leads nowhere, or if a page has no heading.

import { FileSystem, Path } from "@effect/platform"
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Console, Effect } from "effect"
import { base } from "../../docs/.vitepress/links.ts"
import { root } from "./packages.ts"

/** The values of an attribute of these elements. */
const valuesOf = (html: string, attribute: string, elements = "\\w+"): ReadonlyArray<string> =>
  [...html.matchAll(new RegExp(`<(?:${elements})\\b[^>]*?\\s${attribute}="([^"]*)"`, "g"))]
    .map(([, value = ""]) => value.replaceAll("&amp;", "&"))

Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const site = path.join(yield* root, "docs/.vitepress/dist")
  const files = (yield* fs.readDirectory(site, { recursive: true })).map((file) => file.replaceAll("\\", "/"))
  const known = new Set(files)
  const pages = files.filter((file) => file.endsWith(".html"))
  const texts = new Map(
    yield* Effect.forEach(
      pages,
      (page) => Effect.map(fs.readFileString(path.join(site, page)), (html) => [page, html] as const)
    )
  )
  const anchors = new Map([...texts].map(([page, html]) => [page, new Set(valuesOf(html, "id"))]))

  /** What is wrong with a link, as the host of the site resolves it. */
  const problemOf = (page: string, link: string): string | undefined => {
    const here = `http://site${base}${page.replace(/(?:(^|\/)index)?\.html$/, "$1")}`
    const { hash, origin, pathname } = new URL(link, here)
    if (origin !== "http://site") return undefined
    if (!pathname.startsWith(base)) return `is not below ${base}`
    const target = decodeURIComponent(pathname.slice(base.length))
    const file = [target, `${target}.html`, `${target}index.html`].find((file) => known.has(file) && file !== "")
    if (file === undefined) return "does not exist"
    const anchor = decodeURIComponent(hash.slice(1))
    return anchor === "" || anchors.get(file)?.has(anchor) === true ? undefined : "has no such anchor"
  }

  const inPages = [...texts].flatMap(([page, html]) =>
    [...valuesOf(html, "href", "a|link"), ...valuesOf(html, "src", "img|script")].map((link) => [page, link] as const)
  )
  const list = yield* fs.readFileString(path.join(site, "llms.txt"))
  const inList = Array.from(list.matchAll(/\]\(([^)]+)\)/g), ([, link = ""]) => ["llms.txt", link] as const)
  const links = [...inPages, ...inList]
  const broken = links.flatMap(([page, link]) => {
    const problem = problemOf(page, link)
    return problem === undefined ? [] : [`${page}: ${link} ${problem}`]
  })
  const untitled = [...texts].flatMap(([page, html]) =>
    page === "404.html" || html.includes("<h1") ? [] : [`${page} has no heading`]
  )
  const problems = [...new Set(broken), ...untitled]
  yield* Effect.forEach(problems, (problem) => Console.error(problem))
  yield* Console.log(`${links.length} links in ${pages.length} pages, ${problems.length} problems`)
  yield* Console.log(`The site is in ${site}. To look at it: npx -y pnpm@10.34.9 --dir docs run preview`)
  if (problems.length > 0 || links.length === 0) process.exitCode = 1
}).pipe(Effect.provide(NodeContext.layer), NodeRuntime.runMain)
