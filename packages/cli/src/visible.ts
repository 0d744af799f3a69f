import { colored } from "./color.ts"

/** Characters that steer a terminal, or that change the order in which it shows others. A line feed and a tab are harmless. */
const steering = /(?![\n\t])[\p{Cc}\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069\uFEFF]/gu

const escaped = (character: string): string =>
  colored("yellow", `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`)

/** Foreign text for a terminal: characters that steer it are shown and have no effect. */
export const visible = (text: string): string => text.replaceAll("\r\n", "\n").replaceAll(steering, escaped)
