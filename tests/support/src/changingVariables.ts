import { ConfigProvider } from "effect"

let count = 0

/** Variables that can change while a program runs, as mounted files do, and the ConfigProvider that reads them. */
export const make = (initial: Readonly<Record<string, string>>) => {
  const prefix = `CHANGING${++count}`
  const set = (variables: Readonly<Record<string, string>>): void => {
    for (const [name, value] of Object.entries(variables)) process.env[`${prefix}_${name}`] = value
  }
  set(initial)
  return { provider: ConfigProvider.nested(ConfigProvider.fromEnv(), prefix), set }
}
