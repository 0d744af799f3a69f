import { cachedToken } from "./cachedToken.ts"
import type { Run } from "./commandLine/parse.ts"
import { hiddenNote, isHidden, tokenText } from "./tokenText.ts"
import { readVariables } from "./variables.ts"

/** Starts a command. Returns what is wrong with the options that name variables. */
export const start = async (run: Run): Promise<string | undefined> => {
  const problem = readVariables(run.options)
  if (problem !== undefined) return problem
  const token = run.name === "token" ? cachedToken(run.options) : undefined
  if (run.name === "token" && token !== undefined) {
    process.stdout.write(`${tokenText(token, run.options)}\n`)
    if (isHidden(run.options)) process.stderr.write(`${hiddenNote}\n`)
    return undefined
  }
  // loaded after what needs none of it
  const program = await import("./program.ts")
  program.run(run)
  return undefined
}
