import { families, members } from "../rules.ts"

/** The name of a member on Effect 4, if it is another one, and the rule that says so. */
export const renamed = (
  name: string,
  own: Readonly<Record<string, string>> = members
): { readonly rule: string; readonly to: string } | undefined => {
  const to = own[name]
  if (to !== undefined) return { rule: name, to }
  const family = families.find(([word]) => word.test(name))
  return family && { rule: String(family[0]), to: name.replace(family[0], family[1]) }
}
