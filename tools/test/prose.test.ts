import { Lang, parse } from "@ast-grep/napi"
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { repositoryFiles } from "../src/repositoryFiles.ts"

const root = fileURLToPath(new URL("../../", import.meta.url))

/** The Markdown that people write. Results of benchmarks are generated. */
const pages = repositoryFiles.filter((path) => path.endsWith(".md") && !/(^|\/)results\/|CHANGELOG\.md$/.test(path))

/** This file lists the habits, and the vocabulary is a list of words. */
const sources = repositoryFiles.filter((path) =>
  /^(packages|tests|tools|benchmarks|examples|effect-4)\/.*(?<!\.generated)\.c?ts$/.test(path) &&
  !/^tools\/test\/prose\.test\.ts$|\/vocabulary\.ts$/.test(path)
)

/** A habit, as it reads in prose, and what to write instead. */
interface Habit {
  readonly found: RegExp
  readonly instead: string
  /** A sentence that it finds. */
  readonly planted: string
  /** A text in a source can be a part of a sentence, or a name. */
  readonly onlyPages?: true
}

const habits: ReadonlyArray<Habit> = [
  {
    found: /\banswer(s|ed|ing)?\b/i,
    instead: "a server responds or returns; what it sends is a response",
    planted: "The server answers with 401."
  },
  {
    found: /\b(holds?|holding)\b/i,
    instead: "contains, has, keeps, stores, returns or applies",
    planted: "The error holds a request."
  },
  {
    found: /\b(tokens?|V1|V2|version|requests?)\b[^.|:;]{0,30}\bserv(e|es|ed|ing)\b(?! \d)|\bserv(ed|ing) tokens?\b/,
    instead: "a token is used, returned or requested",
    planted: "A token of V1 serves when V2 issues none."
  },
  {
    found: /\b(that|those) of (the|a|an|this|another|our|your|its|Effect|V1|V2)\b/i,
    instead: "repeat the noun, or use a possessive",
    planted: "The base URL must be that of the environment."
  },
  {
    found: /\b(the|as the) same(?= *([.,;:|)]|$))|^The same\b|\| The same\b|\bdoes the same\b(?! \w)/im,
    instead: "repeat the statement",
    planted: "| the signals | the same |",
    onlyPages: true
  },
  {
    found: /\bof (its|their|your|our|my|his) own\b/i,
    instead: "its own, their own, your own",
    planted: "Each process has a token of its own."
  },
  {
    found: /\balso (when|if|where)\b/i,
    instead: "even when",
    planted: "The span shows no path, also when the call fails."
  },
  {
    found: /(^|[.!?] +|\| +|[-*] +|\*\* )(So|Then|Also),? (?!that\b)/m,
    instead: "join the sentences with because, so that, which, after",
    planted: "The server is down. So the call fails."
  },
  {
    found: /\bthe [\w-]+ of (the|a|an) [\w-]+ of (the|a|an)\b/i,
    instead: "put a noun before a noun, or use a possessive",
    planted: "The message of an error of the platform is printed."
  },
  {
    found: /\bstays\b|\bstays? in use\b/i,
    instead: "remains, or remains in use",
    planted: "The valid token stays in use."
  },
  {
    found: /\b(goes|go) on alone\b|\bis away\b|\bway back\b|\bsuffices?\b|\bdisturbs?\b|\bspeaks? against\b/i,
    instead: "see the table in the rules: requests its own token, unavailable, rollback, is enough, affects",
    planted: "When the store is away, the process goes on alone."
  },
  { found: /\breplaces? [\w`.]+ by\b/i, instead: "replace X with Y", planted: "Replace `layer` by another." },
  {
    found:
      /\b(supply|client|token|server|function|layer|code|page|package|test|message|field|error|line)s? (tells?|knows?|wants?|says?)\b|\bshall\b|\bwhoever\b|\bso that nobody\b|\bmind that\b/i,
    instead: "a function returns, prints or reports",
    planted: "The supply tells when it retries."
  },
  {
    found:
      /\b(sends?|sent|sending|reads?|reading|requests?|requested|tries|tried|try)\b(?! (this|that|these) )[^.|;:]{0,20}\bagain\b/i,
    instead: "resend, re-read, request another, retry",
    onlyPages: true,
    planted: "The client replaces the token and sends the request again."
  },
  {
    found:
      /\b(tokens?|leases?|pauses?|outages?) of (about )?(\d[\d.]*|one|two|five|ten) ?(ms|s|seconds?|minutes?|hours?|days?)\b/i,
    instead: "put the time before the noun: a five-second token, a ten-minute outage",
    onlyPages: true,
    planted: "The process gets a lease of 2 seconds."
  },
  {
    found:
      /\b(failure|request|error|body|response|token|scope)s? that (is|are|was|were) (not )?(\w+able|missing|wrong|valid|rejected|revoked)\b(?= *[.,;:|)]|$)/im,
    instead: "an adjective or a participle: a non-retryable failure, a rejected token",
    onlyPages: true,
    planted: "The pause follows a failure that is not retryable."
  },
  {
    found: /\bkeeps? the promises?\b|\bstands still\b|\bleaves? [\w ]+ alone\b|\bpicks? up\b/i,
    instead: "say what the code does: meets the requirements, is paused, does not use",
    onlyPages: true,
    planted: "The process leaves the store alone for 10 seconds."
  },
  {
    found: /\bbegins? anew\b|\bbuilt? anew\b|\bthere is one too many\b|\banswered so\b|\bby use\b/i,
    instead: "start again, built again",
    planted: "The next test begins anew."
  },
  {
    found: /\b(is|are|was|were|been|be) told\b|\btold (what|when|how|that)\b/i,
    instead: "configured with, or passed",
    planted: "What the driver is told."
  },
  { found: /\bin place of (a|an|the)\b/i, instead: "instead of", planted: "A proxy responds in place of the API." },
  { found: /\b(no|some)body\b/i, instead: "no caller, no process, another process", planted: "Nobody waits for it." }
]

/** What is right although a habit finds it. */
const allowed: ReadonlyArray<readonly [file: string, text: string]> = []

/** The prose of a page: without blocks of code, code, quotations, and the addresses of links. */
const proseOf = (text: string): string =>
  text
    .replaceAll(/^( *)(```|~~~)[\s\S]*?^\1\2$/gm, "")
    .replaceAll(/``[^\n]+?``|`[^`\n]*`/g, "`code`")
    .replaceAll(/\]\([^)]*\)/g, "]")
    .replaceAll(/"[^"\n]{1,80}"/g, "\"…\"")
    // a sentence may be on two lines
    .replaceAll(/(?<=[^\n|])\n(?=[^\n|#*\s-])/g, " ")

/** The comments and the texts in a source, each on its own line. */
const textsOf = (source: string): string =>
  parse(Lang.TypeScript, source).root()
    .findAll({ rule: { any: [{ kind: "comment" }, { kind: "string" }, { kind: "template_string" }] } })
    .map((node) =>
      node.kind() === "comment"
        ? node.text().replaceAll(/^\s*(\/\*\*?|\*\/|\*|\/\/) ?|\*\/$/gm, "")
        : node.text().slice(1, -1).replaceAll("`", "'").replaceAll(/\\n/g, "\n").replaceAll(/\$\{[^}]*\}/g, "…")
    )
    .join("\n\n")

const without = (file: string, text: string): string =>
  allowed.filter(([where]) => where === file).reduce((current, [, right]) => current.replaceAll(right, ""), text)

const findings = (text: string, searched = habits): ReadonlyArray<string> => {
  const prose = proseOf(text)
  return searched.flatMap(({ found, instead }) =>
    [...prose.matchAll(new RegExp(found, `${found.flags.replace("g", "")}g`))].map(({ 0: match, index }) => {
      const start = prose.lastIndexOf("\n", index) + 1
      const line = prose.slice(Math.max(start, index - 60), index + 60).split("\n")[0] ?? ""
      return `"${match.trim()}" in "…${line.trim()}…": ${instead}`
    })
  )
}

describe("the prose of the documentation", () => {
  it.each(pages)("%s has none of the listed habits", (page) => {
    const found = findings(without(page, readFileSync(`${root}${page}`, "utf8")))
    assert.isEmpty(found, found.join("\n"))
  })

  it.each(habits)("would be found in: $planted", ({ found, planted }) => {
    assert.match(proseOf(planted), found)
    assert.isAbove(findings(`Some text.\n\n${planted}\n`).length, 0)
  })

  it("may have these words in code, in quotations and in addresses", () => {
    const text =
      "Run `answer()`, see \"The answer is not an OAuth error\" or [a page](the-same.md).\n\n```ts\nhold()\n```\n"
    assert.deepStrictEqual(findings(text), [])
  })

  it("has no page in the list of exceptions that does not exist", () => {
    assert.includeMembers([...pages, ...sources], allowed.map(([file]) => file))
  })
})

describe("the prose of the sources", () => {
  const inSources = habits.filter(({ onlyPages }) => onlyPages !== true)

  it("has none of the listed habits, in comments and in texts", () => {
    assert.isAbove(sources.length, 300)
    const found = sources.flatMap((file) =>
      findings(textsOf(without(file, readFileSync(`${root}${file}`, "utf8"))), inSources)
        .map((finding) => `${file}: ${finding}`)
    )
    assert.isEmpty(found, found.join("\n"))
  })

  it("is found in comments and in texts, and not in code", () => {
    const source = [
      "/** The answer of a server. */",
      "const answer = 1 // no answer",
      "const [told, message] = [answer, \"An answer came.\"]",
      "log(`got ${told} answers`)"
    ].join("\n")
    assert.lengthOf(findings(textsOf(source), inSources), 4)
  })
})
