import { cachedToken } from "./cachedToken.ts"
import type { Run } from "./commandLine/parse.ts"
import type { Run as ProgramRun } from "./program.ts"
import { hiddenNote, isHidden, tokenText } from "./tokenText.ts"
import { forgetSources, readVariables } from "./variables.ts"

/** Does an option or a variable name a profile? */
const hasProfile = (profile: string | undefined): boolean =>
  profile !== undefined || (process.env["CREDIT_DATA_PROFILE"] ?? "") !== ""

/** Reads the variables that do not come from the environment. Returns what is wrong. */
const prepare = async ({ options }: ProgramRun): Promise<string | undefined> =>
  "profile" in options && hasProfile(options.profile)
    ? await (await import("./profiles.ts")).useProfile(options)
    : await readVariables(options)

/** Runs a command. Returns what is wrong with the profiles, or with the options that name variables. */
export const start = async (run: Run): Promise<string | undefined> => {
  forgetSources()
  if (run.name === "profiles") return (await import("./commands/profiles.ts")).profiles(run)
  const problem = await prepare(run)
  if (problem !== undefined) return problem
  const token = run.name === "token" ? cachedToken(run.options) : undefined
  if (run.name === "token" && token !== undefined) {
    process.stdout.write(`${tokenText(token, run.options)}\n`)
    if (isHidden(run.options)) process.stderr.write(`${hiddenNote}\n`)
    return undefined
  }
  // loaded after what needs none of it
  const program = await import("./program.ts")
  await program.run(run)
  return undefined
}
