import { $, setText } from "./dom.ts"

/** The time of day of an instant in milliseconds. */
export const { format: timeOfDay } = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" })

const units = [["h", 36e5], ["min", 6e4], ["s", 1e3]] as const

/** A duration in its largest unit. */
export const words = (milliseconds: number): string => {
  const [unit, size] = units.find(([, size]) => milliseconds >= size) ?? units[2]
  return `${+(milliseconds / size).toFixed(1)} ${unit}`
}

let ahead = 0
let advanced = 0

/** The clock of the simulator, in milliseconds. */
export const now = (): number => Date.now() + ahead

export const showClock = (): void =>
  setText($("clock"), timeOfDay(now()) + (advanced ? `, ${words(advanced)} ahead` : ""))

export const setClock = (state: { readonly now: string; readonly advanced: number }): void => {
  ahead = Date.parse(state.now) - Date.now()
  advanced = state.advanced
  showClock()
}
