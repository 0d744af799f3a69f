import { parseArgs } from "node:util"

/** What the service is written with: a version of Effect, or Promises. */
export type Kind = "effect-3" | "effect-4" | "promise"

/** What the arguments request. */
export type Request =
  | { readonly _tag: "Help" }
  | { readonly _tag: "Version" }
  | { readonly _tag: "Create"; readonly folder: string; readonly kind: Kind }
  | { readonly _tag: "Wrong"; readonly message: string }

const options = {
  effect: { type: "string" },
  promise: { type: "boolean" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "v" }
} as const

const isEffectVersion = (text: unknown): text is "3" | "4" => text === "3" || text === "4"

const wrong = (message: string): Request => ({ _tag: "Wrong", message })

/**
 * Reads the arguments. Without `--` before it, npm keeps `--effect 3` for itself: it passes on the 3 as an argument and sets a variable to
 * true, or to 3 after `--effect=3`. The variable of `--promise` is true.
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
  if (values.promise === true || variables["npm_config_promise"] === "true") {
    return values.effect === undefined && !variables["npm_config_effect"]
      ? { _tag: "Create", folder, kind: "promise" }
      : wrong("Choose one of --effect and --promise.")
  }
  return isEffectVersion(effect)
    ? { _tag: "Create", folder, kind: `effect-${effect}` }
    : wrong("The option --effect is 3 or 4.")
}
