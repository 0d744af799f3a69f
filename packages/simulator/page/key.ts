import { $ } from "./dom.ts"

/** The key of the simulator, for this tab only. */
export const key = (): string => sessionStorage["simulator"] as string ?? ""

/** Without a key, the page is read-only. */
const lock = () => {
  for (const fieldset of document.querySelectorAll("fieldset")) fieldset.disabled = !key()
  $("locked").hidden = !!key()
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
    history.replaceState(null, "", "/")
  }
  lock()
}

takeKey()
window.onhashchange = takeKey
