import { Lang, parse, type SgNode, type SgRoot } from "@ast-grep/napi"
import * as exampleRules from "../exampleRules.ts"
import * as proseRules from "../proseRules.ts"
import { families, local, members, patterns } from "../rules.ts"
import { reimport } from "./imports.ts"
import { renamed } from "./names.ts"

/** Counts how often a rule has matched: one that never matches is stale. */
export type Counts = Map<string, number>

const edit = (source: string, edits: (root: SgNode) => ReadonlyArray<ReturnType<SgNode["replace"]>>): string => {
  const root: SgRoot = parse(Lang.TypeScript, source)
  const made = edits(root.root())
  return made.length === 0 ? source : root.root().commitEdits([...made])
}

const count = (counts: Counts, rule: string) => counts.set(rule, (counts.get(rule) ?? 0) + 1)

/** `Effect.catchAll` becomes `Effect.catch`, in types and in values. */
const renameMembers = (source: string, counts: Counts, members: Readonly<Record<string, string>>): string =>
  edit(
    source,
    (root) =>
      root.findAll({ rule: { any: [{ kind: "member_expression" }, { kind: "nested_type_identifier" }] } }).flatMap(
        (node) => {
          const name = renamed(node.text(), members)
          if (name === undefined) return []
          count(counts, name.rule)
          return [node.replace(name.to)]
        }
      )
  )

/** The words of a pattern, without its metavariables. */
const wordsOf = (pattern: string): ReadonlyArray<string> => pattern.match(/(?<![\w$])[A-Za-z]\w*/g) ?? []

/** Replaces a pattern wherever it matches, also within what a metavariable has caught; never what the rule itself wrote. */
const replacePattern = (source: string, pattern: string, template: string, counted: () => void): string => {
  // most sources lack a word of most patterns, and parsing takes far longer than this search
  if (!wordsOf(pattern).every((word) => source.includes(word))) return source
  return edit(source, (root) => {
    let end = 0
    return root.findAll(pattern).flatMap((match) => {
      const range = match.range()
      // within a match before it, and replaced there
      if (range.start.index < end) return []
      end = range.end.index
      counted()
      const caught = (text: string) => replacePattern(text, pattern, template, counted)
      return [
        match.replace(
          template.replace(/\$\$\$([A-Z]+)(, )?|\$([A-Z]+)/g, (_, many: string, comma = "", one?: string) => {
            if (one !== undefined) return caught(match.getMatch(one)?.text() ?? "")
            const nodes = match.getMultipleMatches(many)
            const [first, last] = [nodes[0], nodes.at(-1)]
            return first === undefined || last === undefined
              ? ""
              : caught(source.slice(first.range().start.index, last.range().end.index)) + comma
          })
        )
      ]
    })
  })
}

const localName = (file: string, pattern: string) => `${pattern} (only in ${file})`

/** Whether a file is read and not imported. */
const isExample = (file: string): boolean => /^(docs|examples)\/|^README\.md$/.test(file)

const rewriteCode = (source: string, counts: Counts, file: string): string => {
  let current = renameMembers(source, counts, isExample(file) ? { ...members, ...exampleRules.members } : members)
  for (const [pattern, template] of local[file] ?? []) {
    current = replacePattern(current, pattern, template, () => count(counts, localName(file, pattern)))
  }
  for (const [pattern, template] of isExample(file) ? [...patterns, ...exampleRules.patterns] : patterns) {
    current = replacePattern(current, pattern, template, () => count(counts, pattern))
  }
  return reimport(source, current)
}

/** The TypeScript examples of a text, each of its lines behind the same prefix: none in Markdown, ` * ` in a docstring. */
const exampleOf = (language: string) => new RegExp(`^([ *]*)\`\`\`${language}\\n([\\s\\S]*?)\\n\\1\`\`\`$`, "gm")

/** What a text shows as examples. */
export const examplesIn = (text: string, language = "ts"): ReadonlyArray<string> =>
  [...text.matchAll(exampleOf(language))].map(([, prefix = "", code = ""]) =>
    code.split("\n").map((line) => line.slice(prefix.length)).join("\n")
  )

/** The text of Markdown or a comment, outside of its examples. */
const rewriteProse = (text: string, counts: Counts): string => {
  const withNames = text.replaceAll(/`([\w.]+)`/g, (span, name: string) => {
    const to = proseRules.names[name] ?? renamed(name)?.to
    if (proseRules.names[name] !== undefined) count(counts, proseName(name))
    return to === undefined ? span : `\`${to}\``
  })
  return proseRules.texts.reduce((current, [from, to]) => {
    if (current.includes(from)) count(counts, proseName(from))
    return current.replaceAll(from, to)
  }, withNames)
}

const proseName = (name: string) => `${name} (in prose)`

/** A page for Effect 4, with its examples. */
export const rewritePage = (file: string, text: string, counts: Counts): string =>
  rewriteProse(rewriteExamples(file, text, counts), counts)

const comment = /^[ \t]*(?:\/\*\*[^]*?\*\/|\/\/.*)$/gm

/** A text with examples, in Markdown or in docstrings, as one with examples for Effect 4. */
export const rewriteExamples = (file: string, text: string, counts: Counts): string =>
  text.replaceAll(exampleOf("ts"), (_, prefix: string, code: string) => {
    const plain = code.split("\n").map((line) => line.slice(prefix.length)).join("\n")
    const lines = rewriteCode(plain, counts, file).split("\n").map((line) => `${prefix}${line}`.trimEnd())
    return [`${prefix}\`\`\`ts`, ...lines, `${prefix}\`\`\``].join("\n")
  })

/** An Effect 3 source as one for Effect 4. */
export const rewrite = (file: string, source: string, counts: Counts): string =>
  rewriteExamples(file, rewriteCode(source, counts, file), counts)
    .replaceAll(comment, (text) => rewriteProse(text, counts))

/** The rules that matched nowhere. Those of a lost file had nothing to match. */
export const unmatched = (counts: Counts, isLost: (file: string) => boolean): ReadonlyArray<string> =>
  [
    ...Object.keys({ ...members, ...exampleRules.members }),
    ...families.map(([word]) => String(word)),
    ...[...patterns, ...exampleRules.patterns].map(([pattern]) => pattern),
    ...[...Object.keys(proseRules.names), ...proseRules.texts.map(([from]) => from)].map(proseName),
    ...Object.entries(local).filter(([file]) => !isLost(file))
      .flatMap(([file, rules]) => rules.map(([pattern]) => localName(file, pattern)))
  ].filter((name) => !counts.has(name))
