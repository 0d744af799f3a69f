import { $ } from "./dom.ts"

const note = $("note")
let timer: ReturnType<typeof setTimeout> | undefined

/** Shows the result of an action. An error remains until a click on it or the next action. */
export const say = (text: string, tone = ""): void => {
  note.textContent = text
  note.className = tone
  clearTimeout(timer)
  if (!tone) timer = setTimeout(say, 6000, "")
}

note.onclick = () => say("")
