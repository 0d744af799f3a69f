import { $ } from "./dom.ts"

const canvas = document.createElement("canvas")
canvas.width = canvas.height = 32

let shown = ""

/** Shows the number of failed requests in the title of the tab, and a red icon if there are any. The icon of a lost connection is grey. */
export const showIcon = (failed: number, isLive: boolean): void => {
  document.title = `${failed ? `${failed} failed – ` : ""}Credit-data simulator`
  const colour = isLive ? failed ? "#d33" : "#295" : "#889"
  const context = canvas.getContext("2d")
  if (!context || shown === colour) return
  shown = colour
  context.clearRect(0, 0, 32, 32)
  context.beginPath()
  context.fillStyle = colour
  context.arc(16, 16, 15, 0, 7)
  context.fill()
  $<HTMLLinkElement & HTMLElement>("icon").href = canvas.toDataURL()
}
