import { cpSync, writeFileSync } from "node:fs"
import { posix } from "node:path"
import { fileURLToPath } from "node:url"
import { defineConfig } from "vitepress"
import { base, repositoryUrl, routeOf } from "./links.ts"
import { writeMoved } from "./moved.ts"
import { changedAt, collect, descriptionOf, exampleRoutes, guide, pages, sourceOf, titleOf } from "./pages.ts"

const folder = fileURLToPath(new URL("../.pages", import.meta.url))
collect(folder)

const link = (page: string) => `/${routeOf(page).replace(/(index)?\.md$/, "")}`
const item = (page: string) => ({ text: titleOf(page), link: link(page) })

const packages = pages.filter((page) => /^packages\/[\w-]+\/README\.md$/.test(page))
const records = pages.filter((page) => /^docs\/decisions\/\d/.test(page)).toSorted()
const results = pages.filter((page) => page.startsWith("benchmarks/results/")).toSorted()
const modulesOf = (readme: string) =>
  pages.filter((page) => page.startsWith(readme.replace("README.md", "docs/modules/"))).toSorted()

const guideItems = guide.map(({ pages, title }) => ({
  text: title,
  collapsed: title !== "Call",
  items: pages.map(item)
}))

const reference = packages.map((page) => ({
  text: titleOf(page),
  collapsed: false,
  items: [{ text: "Overview", link: link(page) }, ...modulesOf(page).map(item)]
}))

/** A line of llms.txt. */
const listed = (page: string) => {
  const description = descriptionOf(page)
  return `- [${titleOf(page)}](${base}${routeOf(page)})${description === undefined ? "" : `: ${description}`}`
}

export default defineConfig({
  title: "@credit-data",
  description: "Access tokens for a credit-data API, as Effect Layers",
  base,
  srcDir: ".pages",
  cleanUrls: true,
  head: [["link", { rel: "icon", type: "image/svg+xml", href: `${base}favicon.svg` }]],
  // the pages of the site are copies
  transformPageData: ({ filePath }) => {
    const source = sourceOf(filePath)
    return { filePath: source, lastUpdated: changedAt(source), description: descriptionOf(source) ?? "" }
  },
  themeConfig: {
    search: {
      provider: "local",
      options: {
        miniSearch: {
          // the name of a variable is one word, or its parts would find every page
          options: {
            tokenize: (text) =>
              text.split(/[^\p{L}\p{N}_]+/u).flatMap((word) => word.includes("_") ? [word, ...word.split("_")] : word)
          },
          searchOptions: {
            tokenize: (text) => text.split(/[^\p{L}\p{N}_]+/u),
            // Whoever searches has a task or a failure. The page of the browser runs this function, so it names nothing outside of it.
            boostDocument: (id, term) =>
              term.startsWith("credit_data_") && id.includes("/docs/configuration")
                ? 20
                : /docs\/(operations|failures)/.test(id)
                ? 4
                : /docs\/modules|benchmarks|decisions|CHANGELOG|examples\//.test(id)
                ? 0.2
                : 1
          }
        }
      }
    },
    nav: [
      { text: "Guide", link: "/docs/get-started" },
      { text: "Reference", link: "/packages/core/" },
      { text: "Contribute", link: "/CONTRIBUTING" }
    ],
    socialLinks: [{ icon: "github", link: repositoryUrl }],
    editLink: { pattern: `${repositoryUrl}/edit/main/:path`, text: "Edit this page" },
    lastUpdated: { text: "Last change", formatOptions: { dateStyle: "long" } },
    sidebar: {
      "/packages/": [{ text: "Packages", link: "/docs/#look-up" }, ...reference],
      "/": [
        { text: "About", items: [item("README.md"), item("docs/README.md"), item("CHANGELOG.md")] },
        ...guideItems.map((group) =>
          group.text === "Decide"
            ? {
              ...group,
              items: [
                ...group.items,
                { text: "Decision records", collapsed: true, items: records.map(item) },
                { text: "Results", collapsed: true, items: results.map(item) }
              ]
            }
            : group
        ),
        {
          text: "Examples",
          collapsed: true,
          items: exampleRoutes.map((route) => ({
            text: posix.basename(route, ".md"),
            link: `/${route.replace(".md", "")}`
          }))
        },
        { text: "Packages", collapsed: true, items: packages.map(item) }
      ]
    },
    outline: "deep"
  },
  markdown: {
    // the anchors of GitHub, because the pages link to each other there too
    anchor: {
      slugify: (heading) =>
        heading.trim().toLowerCase().replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, "").replaceAll(" ", "-")
    }
  },
  // for programs that read documentation: a list of the pages, and each page as Markdown
  buildEnd: ({ outDir }) => {
    cpSync(folder, outDir, { recursive: true })
    writeMoved(outDir)
    writeFileSync(
      posix.join(outDir, "llms.txt"),
      [
        "# @credit-data",
        "",
        "> Access tokens for a credit-data API, as Effect Layers",
        "",
        "## Guide",
        "",
        ...["README.md", ...guide.flatMap(({ pages }) => pages)].map(listed),
        "",
        "## Packages",
        "",
        ...packages.map(listed),
        "",
        "## API reference",
        "",
        ...packages.flatMap(modulesOf).map(listed),
        ""
      ].join("\n")
    )
  }
})
