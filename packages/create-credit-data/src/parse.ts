import { parseArgs } from "node:util"

/** The version of Effect for which the service is written. */
export type EffectVersion = "3" | "4"

/** What the arguments request. */
export type Request =
  | { readonly _tag: "Help" }
  | { readonly _tag: "Version" }
  | { readonly _tag: "Create"; readonly folder: string; readonly effect: EffectVersion }
  | { readonly _tag: "Wrong"; readonly message: string }

const options = {
  effect: { type: "string" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "v" }
} as const

const isEffectVersion = (text: unknown): text is EffectVersion => text === "3" || text === "4"

const wrong = (message: string): Request => ({ _tag: "Wrong", message })

/**
 * Reads the arguments. Without `--` before it, npm keeps `--effect 3` for itself: it passes on the 3 as an argument and sets a variable to
 * true, or to 3 after `--effect=3`.
 */
export const parse = (
  args: ReadonlyArray<string>,
  variables: Readonly<Record<string, string | undefined>>
): Request => {
  const { positionals, tokens, values } = parseArgs({
    args: [...args],
    options,
    strict: false,
    allowPositionals: true,
    tokens: true
  })
  const unknown = tokens.find((token) => token.kind === "option" && !Object.hasOwn(options, token.name))
  if (unknown?.kind === "option") return wrong(`There is no option ${unknown.rawName}.`)
  if (values.help === true) return { _tag: "Help" }
  if (values.version === true) return { _tag: "Version" }
  const kept = values.effect === undefined ? variables["npm_config_effect"] || "4" : undefined
  const passedOn = kept === "true" ? positionals.findLast(isEffectVersion) : undefined
  const effect = values.effect ?? passedOn ?? kept
  const [folder = "my-service", ...surplus] = positionals.filter((argument) => argument !== passedOn)
  if (surplus.length > 0) return wrong("There is more than one folder. Quote a name that contains spaces.")
  if (folder.trim() === "") return wrong("The name of the folder is empty.")
  return isEffectVersion(effect) ? { _tag: "Create", folder, effect } : wrong("The option --effect is 3 or 4.")
}
