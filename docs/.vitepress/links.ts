// Where the links of pages lead: on the site, and from a package that was installed.

import { existsSync, statSync } from "node:fs"
import { posix } from "node:path"
import { fileURLToPath } from "node:url"

export const root = fileURLToPath(new URL("../../", import.meta.url))

/** The path of the site on its host. The release sets it, and a local build is opened at its root. */
export const base = process.env["SITE_BASE"] ?? "/"

const site = "https://credit-data.github.io/credit-data/"

export const repositoryUrl = "https://github.com/credit-data/credit-data"

const repository = `${repositoryUrl}/blob/main/`

const pictures = "https://raw.githubusercontent.com/credit-data/credit-data/main/"

/** What is on the site. All else that pages link to is shown by the repository. */
export const isPage = (path: string): boolean =>
  /^(README|SECURITY|CONTRIBUTING|CHANGELOG)\.md$/.test(path) ||
  /^docs\/(decisions\/)?[\w-]+\.md$/.test(path) ||
  /^packages\/[\w-]+\/README\.md$/.test(path) ||
  /^packages\/[\w-]+\/docs\/modules\/\w+\.ts\.md$/.test(path) ||
  /^benchmarks\/(README|results\/\w+)\.md$/.test(path)

/** The first page of a folder is its README. VitePress takes a route that ends with `.ts` for a video. */
export const routeOf = (page: string): string => page.replace(/README\.md$/, "index.md").replace(/\.ts\.md$/, ".md")

/** The page of an example. All files of the service are on one page. */
export const exampleRouteOf = (file: string): string | undefined => {
  const [, name] = /^examples\/src\/([\w-]+)(?:\/[\w-]+)?(?:\.ts)?$/.exec(file) ?? []
  return name === undefined ? undefined : `examples/${name}.md`
}

const links = /(?<=\]\()[^)\s]+(?=\))/g

/** The target of a link as a path in the repository, with its anchor, or nothing if the link leads elsewhere. */
const targetOf = (page: string, href: string) => {
  if (/^([a-z]+:|#)/.test(href)) return undefined
  const [path = "", anchor = ""] = href.split(/(?=#)/)
  const target = posix.join(posix.dirname(page), path)
  const isFolder = existsSync(`${root}${target}`) && statSync(`${root}${target}`).isDirectory()
  const file = isFolder ? posix.join(target, "README.md") : target
  return { target, anchor, route: exampleRouteOf(target) ?? (isPage(file) ? routeOf(file) : undefined) }
}

const isPicture = (href: string): boolean => /\.(svg|png)$/.test(href)

/** A page with links that work on the site. */
export const withLinksOnSite = (page: string, text: string): string =>
  text.replaceAll(links, (href) => {
    const found = isPicture(href) ? undefined : targetOf(page, href)
    if (found === undefined) return href
    const { anchor, route, target } = found
    return route === undefined
      ? `${repository}${target}${anchor}`
      : `${posix.relative(posix.dirname(page), route).replace(/^(?!\.)/, "./")}${anchor}`
  })

/** The README of a package with links that work where it is installed: to its own files, to the site, or to the repository. */
export const withPublicLinks = (page: string, text: string, isPacked: (path: string) => boolean): string =>
  text.replaceAll(links, (href) => {
    const found = targetOf(page, href)
    if (found === undefined) return href
    const { anchor, route, target } = found
    if (isPicture(href)) return `${pictures}${target}`
    if (route !== undefined) return `${site}${route.replace(/(index)?\.md$/, "")}${anchor}`
    return isPacked(posix.relative(posix.dirname(page), target)) ? href : `${repository}${target}${anchor}`
  })
