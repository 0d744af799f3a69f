import type { Found, Request as Schema } from "../src/internal/admin/AdminApi.ts"
import { remember, remembered } from "./address.ts"
import { type Detail, detailOf, type Relation } from "./detail.ts"
import { $, count, h, setText } from "./dom.ts"
import { showIcon } from "./icon.ts"
import { get } from "./key.ts"
import * as Rows from "./rows.ts"
import { timeOfDay } from "./time.ts"
import { tokenMark } from "./tokens.ts"

type Request = typeof Schema.Encoded

const list = $("requests")
const filter = $<HTMLInputElement>("filter")
const server = $<HTMLSelectElement>("server")
const status = $<HTMLSelectElement>("status")
const tag = $<HTMLSelectElement>("tag")
const pause = $("pause")

const servers = { AuthV1: "V1", AuthV2: "V2", Api: "API" }

const statusOf = ({ milliseconds, status }: Request) => status ?? (milliseconds === null ? "pending" : "no response")

const hasFailed = ({ milliseconds, status }: Request) => milliseconds !== null && (status === null || status >= 400)

/** The tones of the statuses by their first character. */
const tones: Readonly<Record<string, string>> = { 2: "good", 4: "warn", 5: "bad", n: "bad" }

const tagsOf = ({ error, fault }: Request) => [error ?? "", fault ? `Fault: ${fault}` : ""] as const

const addTag = (name: string) => {
  if (name && ![...tag.options].some(({ value }) => value === name)) tag.add(new Option(name))
}

/** The chosen tag remains, because it is in the address. */
const clearTags = () => {
  tag.length = 1
  addTag(remembered("tag"))
  tag.value = remembered("tag")
}

/** The requests in whose headers or bodies the simulator has found the text of the filter. */
let found = new Set<number>()

/** Hides the row if the filters do not match it. */
const applyFilters = (row: HTMLElement, request: Request) => {
  const { id, method, url } = request
  const outcome = `${statusOf(request)}`
  const tags = tagsOf(request)
  row.hidden = !servers[request.server].startsWith(server.value) || !outcome.startsWith(status.value) ||
    tag.value !== "" && !tags.includes(tag.value) ||
    !(`${method} ${url} ${outcome} ${tags.join(" ")}`.toLowerCase().includes(filter.value.toLowerCase()) ||
      found.has(id))
}

let openId = +remembered("open")

/** The open row and its detail. */
let opened: readonly [row: HTMLElement, detail: HTMLElement] | undefined

/** What the state has of the servers. */
let baseUrls: Readonly<Record<Request["server"], string>> = { AuthV1: "", AuthV2: "", Api: "" }

/** The requests that belong to this one: the token request of a call, or the calls with the issued token. */
const relationsOf = ({ issuedToken, token }: Request): ReadonlyArray<Relation> => {
  const all = [...rows.values()].map(([, item]) => item)
  const idsOf = (is: (item: Request) => boolean) =>
    all.filter(is).map(({ id }) => id).toSorted((left, right) => right - left)
  const relations: Array<Relation> = []
  if (token !== null) {
    const issuers = idsOf((item) => item.issuedToken === token)
    relations.push([issuers[0] ? "was issued by request" : "was issued earlier", issuers])
  }
  if (issuedToken !== null) {
    const calls = idsOf((item) => item.token === issuedToken)
    relations.push([`was issued here and used by ${count(calls.length, "call")}`, calls.slice(0, 20)])
  }
  return relations
}

/** Marks the rows with the token of the open request. */
const showRelated = () => {
  const open = rows.get(openId)?.[1]
  const mark = open?.token ?? open?.issuedToken ?? 0
  for (const [element, { issuedToken, token }] of rows.values()) {
    element.classList.toggle("related", mark > 0 && (token === mark || issuedToken === mark))
  }
}

const showDetail = async () => {
  const id = openId
  const row = rows.get(id)
  if (!row) return
  const response = await get(`requests/${id}`)
  if (!response?.ok || id !== openId) return
  const detail = await response.json() as Detail
  const focused = opened?.[1].contains(document.activeElement)
  close()
  const element = detailOf(detail, baseUrls[detail.server], relationsOf(row[1]), open)
  opened = [row[0], element]
  row[0].append(element)
  buttonOf(row[0]).ariaExpanded = "true"
  if (focused) element.querySelector("button")?.focus()
  row[0].scrollIntoView({ block: "nearest" })
  showRelated()
}

const buttonOf = (row: HTMLElement) => row.firstChild as HTMLElement

const close = () => {
  if (!opened) return
  opened[1].remove()
  buttonOf(opened[0]).ariaExpanded = "false"
  opened = undefined
}

/** Opens a request instead of the open one. 0 closes it. */
const open = (id: number) => {
  close()
  openId = id
  remember("open", id ? `${id}` : "")
  showRelated()
  void showDetail()
  const row = rows.get(id)?.[0]
  if (!row) return
  // a request that belongs to another one can be outside of the filter
  row.hidden = false
  makeStop(buttonOf(row))
  buttonOf(row).focus()
}

const fill = (element: HTMLLIElement, request: Request) => {
  const error = h("span.tag")
  const fault = h("span.tag warn")
  const token = h("span")
  const outcome = h("span")
  const duration = h("small.ms")
  const button = h(
    "button",
    h("small", timeOfDay(Date.parse(request.receivedAt))),
    h("span", servers[request.server]),
    h("b", request.method),
    h("span.path", request.url),
    h("span", error, " ", fault),
    token,
    outcome,
    duration
  )
  button.tabIndex = -1
  button.ariaExpanded = "false"
  button.onclick = () => open(openId === request.id ? 0 : request.id)
  element.append(button)
  return (latest: Request) => {
    const tags = tagsOf(latest)
    setText(error, tags[0])
    setText(fault, tags[1])
    tags.forEach(addTag)
    const mark = latest.token ?? latest.issuedToken
    if (mark !== null && !token.firstChild) token.append(tokenMark(mark))
    const shown = `${statusOf(latest)}`
    setText(outcome, shown)
    outcome.className = `tag ${tones[shown.charAt(0)]}`
    element.classList.toggle("failed", hasFailed(latest))
    setText(duration, latest.milliseconds === null ? "" : `${latest.milliseconds} ms`)
    applyFilters(element, latest)
    if (latest.id === openId) void showDetail()
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

const counts = { calls: 0, tokenRequests: 0 }

/** Whether the page has the state of the simulator. Until then it shows no counts. */
let isKnown = false
let isLive = false

/** More rows in one frame would make it long. */
const perFrame = () => isPaused ? 0 : 100

const [put, clear, render, rows] = Rows.make<Request>(list, 1000, fill, perFrame, (waiting) => {
  const shown = visible()
  if (!list.matches(":focus-within")) makeStop(shown[0])
  const { size } = rows
  const failed = [...rows.values()].filter(([, item]) => hasFailed(item)).length
  if (isKnown) setText($("counts"), `${count(counts.tokenRequests, "token request")}, ${count(counts.calls, "call")}`)
  if (isKnown || size) setText($("shown"), shown.length === size ? size : `${shown.length} of ${size}`)
  if (openId) showRelated()
  $("empty").hidden = !isKnown || size + waiting > 0
  $("nothing").hidden = !size || shown.length > 0
  list.hidden = !shown.length
  setText(pause, isPaused ? `Resume (${waiting})` : "Pause")
  showIcon(failed, isLive)
})

export const putRequest = (request: Request): void => {
  const kind = request.server === "Api" ? "calls" : "tokenRequests"
  counts[kind] = Math.max(counts[kind], request.ordinal)
  put(request)
  // what arrives later can have the text of the filter in its body
  if (filter.value) searchSoon(1000)
}

export const clearRequests = (): void => {
  // the stream begins with a reset, and the address can have an open request
  if (rows.size) open(0)
  opened = undefined
  counts.calls = counts.tokenRequests = 0
  clearTags()
  clear()
}

/** Shows what the state of the simulator has about its requests. */
export const putCounts = (
  { calls, environment: { authV1Url, authV2Url, baseUrl }, tokenRequests }: {
    readonly calls: number
    readonly tokenRequests: number
    readonly environment: { readonly authV1Url: string; readonly authV2Url: string; readonly baseUrl: string }
  }
): void => {
  baseUrls = { AuthV1: authV1Url, AuthV2: authV2Url, Api: baseUrl }
  Object.assign(counts, { calls, tokenRequests })
  isKnown = true
  render()
}

/** Shows whether the page is connected in the icon. */
export const setConnected = (live: boolean): void => {
  isLive = live
  render()
}

pause.onclick = () => {
  isPaused = !isPaused
  render()
}

const applyAll = () => {
  for (const [element, item] of rows.values()) applyFilters(element, item)
  render()
}

const search = async () => {
  const text = filter.value
  remember("filter", text)
  const response = text ? await get(`search?text=${encodeURIComponent(text)}`) : undefined
  const result = response?.ok ? await response.json() as typeof Found.Encoded : undefined
  if (text !== filter.value) return
  found = new Set(result?.requests.map(({ id }) => id))
  // the simulator forgets the oldest bodies
  const { searchable = 0, total = 0 } = result ?? {}
  setText($("searched"), searchable < total ? `Bodies of ${searchable} of ${total} searched` : "")
  applyAll()
}

let timer: ReturnType<typeof setTimeout> | undefined

/** Searches after this time, however often it is asked for. */
const searchSoon = (milliseconds: number) => {
  timer ??= setTimeout(() => {
    timer = undefined
    void search()
  }, milliseconds)
}

filter.value = remembered("filter")
clearTags()
const selects = [server, status, tag]
for (const select of selects) {
  select.value = remembered(select.id)
  select.onchange = () => {
    remember(select.id, select.value)
    applyAll()
  }
}
if (filter.value) searchSoon(0)

filter.oninput = () => {
  clearTimeout(timer)
  timer = undefined
  searchSoon(200)
  applyAll()
}

$("unfilter").onclick = () => {
  filter.value = ""
  for (const select of selects) {
    select.value = ""
    remember(select.id, "")
  }
  void search()
  filter.focus()
}

document.addEventListener("keydown", ({ key, target }) => {
  const row = opened?.[0]
  // Escape also closes a dialog and clears a field
  if (key !== "Escape" || !row || (target as HTMLElement).matches("input, textarea, select, [popover] *")) return
  open(0)
  buttonOf(row).focus()
})

list.onkeydown = (event) => {
  const all = visible()
  const at = all.indexOf(event.target as HTMLElement)
  const button = all[{ ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key] ?? -1]
  if (at < 0 || !button) return
  event.preventDefault()
  makeStop(button)
  button.focus()
}
