import { $ } from "./dom.ts"

let isLive = false

/** The key of the simulator, for this tab only. */
export const key = (): string => sessionStorage["simulator"] as string ?? ""

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
