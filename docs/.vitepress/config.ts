import { cpSync, writeFileSync } from "node:fs"
import { posix } from "node:path"
import { fileURLToPath } from "node:url"
import { defineConfig } from "vitepress"
import { base, routeOf } from "./links.ts"
import { collect, exampleRoutes, guide, pages, titleOf } from "./pages.ts"

const folder = fileURLToPath(new URL("../.pages", import.meta.url))
collect(folder)

const link = (page: string) => `/${routeOf(page).replace(/(index)?\.md$/, "")}`
const item = (page: string) => ({ text: titleOf(page), link: link(page) })

const packages = pages.filter((page) => /^packages\/[\w-]+\/README\.md$/.test(page))
const modulesOf = (readme: string) =>
  pages.filter((page) => page.startsWith(readme.replace("README.md", "docs/modules/"))).toSorted()

export default defineConfig({
  title: "@credit-data",
  description: "Access tokens for a credit-data API, as Effect Layers",
  base,
  srcDir: ".pages",
  cleanUrls: true,
  themeConfig: {
    search: { provider: "local" },
    nav: [{ text: "Guide", link: "/docs/" }, { text: "Reference", link: "/packages/core/" }],
    sidebar: [
      { text: "About", items: [item("README.md")] },
      ...guide.map(({ pages, title }) => ({ text: title, items: pages.map(item) })),
      {
        text: "Examples",
        collapsed: true,
        items: exampleRoutes.map((route) => ({
          text: posix.basename(route, ".md"),
          link: `/${route.replace(".md", "")}`
        }))
      },
      ...packages.map((page) => ({
        text: titleOf(page),
        collapsed: true,
        items: [{ text: "Overview", link: link(page) }, ...modulesOf(page).map(item)]
      }))
    ],
    outline: "deep"
  },
  markdown: {
    config: (md) => {
      const fence = md.renderer.rules.fence
      md.renderer.rules.fence = (tokens, index, options, env, self) => {
        const token = tokens[index]
        return token?.info === "mermaid"
          ? `<pre class="mermaid" v-pre>${md.utils.escapeHtml(token.content)}</pre>`
          : fence?.(tokens, index, options, env, self) ?? ""
      }
    }
  },
  // for programs that read documentation: a list of the pages, and each page as Markdown
  buildEnd: ({ outDir }) => {
    cpSync(folder, outDir, { recursive: true })
    writeFileSync(
      posix.join(outDir, "llms.txt"),
      [
        "# @credit-data",
        "",
        "> Access tokens for a credit-data API, as Effect Layers",
        "",
        ...["README.md", ...guide.flatMap(({ pages }) => pages), ...packages, ...packages.flatMap(modulesOf)]
          .map((page) => `- [${titleOf(page)}](${base}${routeOf(page)})`),
        ""
      ].join("\n")
    )
  }
})
