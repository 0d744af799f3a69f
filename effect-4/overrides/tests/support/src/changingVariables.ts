import { ConfigProvider, Effect } from "effect"

/** Variables that can change while a program runs, as mounted files do, and the ConfigProvider that reads them. */
export const make = (initial: Readonly<Record<string, string>>) => {
  const all = { ...initial }
  return {
    provider: ConfigProvider.make((path) =>
      Effect.sync(() => {
        const value = all[path.join("_")]
        return value === undefined ? undefined : ConfigProvider.makeValue(value)
      })
    ),
    set: (variables: Readonly<Record<string, string>>): void => void Object.assign(all, variables)
  }
}
