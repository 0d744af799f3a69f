import type { Request as Schema } from "../src/AdminApi.ts"
import { $, h, setText } from "./dom.ts"
import * as Rows from "./rows.ts"
import { timeOfDay } from "./time.ts"

type Request = typeof Schema.Encoded

const list = $("requests")
const filter = $<HTMLInputElement>("filter")
const server = $<HTMLSelectElement>("server")
const pause = $("pause")

const servers = { AuthV1: "V1", AuthV2: "V2", Api: "API" }

const statusOf = ({ milliseconds, status }: Request) => status ?? (milliseconds === null ? "pending" : "no response")

/** The tones of the statuses by their first character. */
const tones: Readonly<Record<string, string>> = { 2: "good", 4: "warn", 5: "bad", n: "bad" }

/** Hides the row if the filters do not match what it shows. */
const applyFilters = (row: HTMLElement, request: Request) => {
  const text = row.firstChild?.textContent?.toLowerCase()
  row.hidden = !(servers[request.server].startsWith(server.value) && text?.includes(filter.value.toLowerCase()))
}

const detail = (request: Request) => {
  const facts = {
    Address: request.url,
    Received: request.receivedAt,
    Token: `${request.token ?? "none"}`,
    Headers: Object.entries(request.headers).map((header) => header.join(": ")).join("\n"),
    Body: request.body || "none"
  }
  return h("dl", ...Object.entries(facts).flatMap(([name, value]) => [h("dt", name), h("dd", value)]))
}

const fill = (element: HTMLLIElement, request: Request) => {
  const error = h("span.tag")
  const fault = h("span.tag warn")
  const status = h("span")
  const duration = h("small.ms")
  const button = h(
    "button",
    h("small", timeOfDay(Date.parse(request.receivedAt))),
    h("span", servers[request.server]),
    h("b", request.method),
    h("span.path", request.url),
    h("span", error, " ", fault),
    status,
    duration
  )
  button.tabIndex = -1
  button.ariaExpanded = "false"
  button.onclick = () => {
    const open = button.nextSibling
    button.ariaExpanded = `${!open}`
    if (open) open.remove()
    else element.append(detail(request))
  }
  element.append(button)
  return (latest: Request) => {
    setText(error, latest.error ?? "")
    setText(fault, latest.fault ? `Fault: ${latest.fault}` : "")
    const outcome = `${statusOf(latest)}`
    setText(status, outcome)
    status.className = `tag ${tones[outcome.charAt(0)]}`
    setText(duration, latest.milliseconds === null ? "" : `${latest.milliseconds} ms`)
    applyFilters(element, latest)
  }
}

let isPaused = false

/** The rows that the filter lets through. */
const visible = () => [...list.querySelectorAll<HTMLElement>("li:not([hidden])>button")]

let stop: HTMLElement | undefined

/** The list is one tab stop: the row with the focus, or the first one. */
const makeStop = (button: HTMLElement | undefined) => {
  if (stop) stop.tabIndex = -1
  stop = button
  if (stop) stop.tabIndex = 0
}

/** More rows in one frame would make it long. */
const perFrame = () => isPaused ? 0 : 50

const [put, clear, render, rows] = Rows.make(list, 1000, fill, perFrame, (waiting) => {
  const shown = visible()
  if (!list.matches(":focus-within")) makeStop(shown[0])
  const count = rows.size
  setText($("shown"), shown.length === count ? count : `${shown.length} of ${count}`)
  setText(pause, isPaused ? `Resume (${waiting})` : "Pause")
})

export { clear as clearRequests, put as putRequest }

pause.onclick = () => {
  isPaused = !isPaused
  render()
}

filter.oninput = server.onchange = () => {
  for (const [element, item] of rows.values()) applyFilters(element, item)
  render()
}

list.onkeydown = (event) => {
  const all = visible()
  const at = all.indexOf(event.target as HTMLElement)
  const button = all[{ ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key] ?? -1]
  if (!button) return
  event.preventDefault()
  makeStop(button)
  button.focus()
}
