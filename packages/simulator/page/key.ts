import { $ } from "./dom.ts"

let isLive = false

/** The key of the simulator, for this tab only. */
export const key = (): string => sessionStorage["simulator"] as string ?? ""

/** Sends a request to the admin API, with the key. Returns nothing if there is no response. */
const request = (path: string, init: RequestInit, headers: Record<string, string> = {}) =>
  fetch(`/api/v1/${path}`, { ...init, headers: { "x-api-key": key(), ...headers } }).catch(() => undefined)

/** Reads a path. The simulator needs the key for this too if other machines can reach it. */
export const get = (path: string, headers?: Record<string, string>): Promise<Response | undefined> =>
  request(path, {}, headers)

/** Sends an action with a body as JSON. */
export const send = (path: string, body?: string): Promise<Response | undefined> =>
  request(path, { method: "POST", ...body === undefined ? {} : { body } }, { "content-type": "application/json" })

/** Without a key or a connection, the page is read-only. */
export const isLocked = (): boolean => !key() || !isLive

const lock = () => {
  for (const fieldset of document.querySelectorAll("fieldset")) fieldset.disabled = isLocked()
  $("locked").hidden = !!key()
}

export const setLive = (live: boolean): void => {
  isLive = live
  lock()
}

export const forgetKey = (): void => {
  sessionStorage.clear()
  lock()
}

/** Takes the key from the address, and removes it there, so that it is in no history and on no screenshot. */
const takeKey = () => {
  const [, given] = location.hash.split("#key=")
  if (given) {
    sessionStorage["simulator"] = given
    history.replaceState(null, "", `/${location.search}`)
  }
  lock()
}

takeKey()
window.onhashchange = takeKey
