import { colored } from "./color.ts"
import { visible } from "./visible.ts"

const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{},:]|[^\s"[\]{},:]+/gs

/** Deeper levels are not indented further, so that the text grows in proportion to its length. */
const deepest = 20

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const scalar = (token: string): string =>
  token.startsWith("\"") ? colored("green", visible(token)) : colored("yellow", token)

/**
 * JSON with a line for each value, for a terminal, or `undefined` if the text is not JSON. The values are copied from the text,
 * because a number such as 12345678901234567890 or a repeated name would not survive parsing.
 */
export const jsonText = (text: string): string | undefined => {
  if (!isJson(text)) return undefined
  const all = text.match(tokens) ?? []
  const parts: Array<string> = []
  let depth = 0
  const newLine = () => parts.push(`\n${"  ".repeat(Math.min(depth, deepest))}`)
  for (const [index, token] of all.entries()) {
    switch (token) {
      case "{":
      case "[":
        parts.push(token)
        depth += 1
        if (!/^[\]}]$/.test(all[index + 1] ?? "")) newLine()
        break
      case "}":
      case "]":
        depth -= 1
        if (!/^[[{]$/.test(all[index - 1] ?? "")) newLine()
        parts.push(token)
        break
      case ",":
        parts.push(token)
        newLine()
        break
      case ":":
        parts.push(": ")
        break
      default:
        parts.push(all[index + 1] === ":" ? colored("bold", visible(token)) : scalar(token))
    }
  }
  return parts.join("")
}
