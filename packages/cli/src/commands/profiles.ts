import type { Invocation } from "../commandLine/commands.ts"
import { messages, type Profile, readProfiles } from "../profiles.ts"
import { columnsOr, jsonText, table, visible } from "../text.ts"

// Lists the profiles. Needs nothing of Effect, because the shell waits for the names while the user types.

/** Only the host, because a URL may have a password. */
const hostOf = (url: string | undefined): string | null => {
  try {
    return new URL(url ?? "").host
  } catch {
    return null
  }
}

const factsOf = ({ name, variables }: Profile) => ({
  name,
  clientId: variables.get("CREDIT_DATA_CLIENT_ID") ?? null,
  hosts: {
    api: hostOf(variables.get("CREDIT_DATA_BASE_URL")),
    authV1: hostOf(variables.get("CREDIT_DATA_AUTH_V1_URL")),
    authV2: hostOf(variables.get("CREDIT_DATA_AUTH_V2_URL"))
  }
})

type Facts = ReturnType<typeof factsOf>

const columns: ReadonlyArray<readonly [title: string, cellOf: (facts: Facts) => string | null]> = [
  ["profile", ({ name }) => name],
  ["client", ({ clientId }) => clientId === null ? null : visible(clientId)],
  ["API", ({ hosts }) => hosts.api],
  ["Auth V1", ({ hosts }) => hosts.authV1],
  ["Auth V2", ({ hosts }) => hosts.authV2]
]

/** A table without the columns that have no cell, or a paragraph for each profile where the terminal has no room for the table. */
const format = (profiles: ReadonlyArray<Facts>): string => {
  const shown = columns.filter(([, cellOf]) => profiles.some((facts) => cellOf(facts) !== null))
  const text = table([
    shown.map(([title]) => title),
    ...profiles.map((facts) => shown.map(([, cellOf]) => cellOf(facts) ?? ""))
  ])
  if (text.split("\n").every((line) => line.length <= columnsOr(Infinity))) return text
  return profiles.map((facts) => table(shown.map(([title, cellOf]) => [title, cellOf(facts) ?? ""]))).join("\n\n")
}

/** Prints the profiles. Returns what is wrong with them. */
export const profiles = ({ options }: Invocation<"profiles">): string | undefined => {
  const read = readProfiles()
  if (typeof read === "string") return read
  const facts = read.profiles.map(factsOf)
  if (options.json) process.stdout.write(`${jsonText({ file: read.file, profiles: facts })}\n`)
  else if (facts.length === 0) process.stderr.write(`${visible(messages.none(read.file))}\n`)
  else process.stdout.write(`${options.names ? facts.map(({ name }) => name).join("\n") : format(facts)}\n`)
  return undefined
}
