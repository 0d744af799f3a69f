import { $ } from "./dom.ts"
import { forgetKey, key, send } from "./key.ts"
import { say } from "./note.ts"

const rules: Readonly<Record<string, string>> = {
  body: "must be JSON",
  path: "must begin with the path of an endpoint group"
}

/** Shows which field is wrong, and never its value, because that can be a secret. */
export const refuse = (path: string, form?: HTMLFormElement): void => {
  const field = path.replace("fault.", "")
  say(`The field ${field} ${rules[field] ?? "is not valid"}.`, "bad")
  form?.querySelector<HTMLElement>(`[name="${path}"]`)?.focus()
}

/** Returns nothing if the request failed, after it showed why. */
const check = async (response?: Response, form?: HTMLFormElement): Promise<Response | undefined> => {
  if (response?.ok) return response
  if (!response) say("The simulator does not respond. Check that it runs.", "bad")
  else if (response.status === 400) {
    const { issues: [issue] } = await response.json() as { readonly issues: [{ readonly path: ReadonlyArray<string> }] }
    // a header has its own name below the field
    refuse(issue.path.join(".").replace(/headers.*/, "headers"), form)
  } else if (response.status === 401) {
    forgetKey()
    say("The key is not valid.", "bad")
  } else {say(
      response.status === 404 ? "It no longer exists." : `The simulator responded with ${response.status}.`,
      "bad"
    )}
}

/** Sends an action with a body as JSON. Returns nothing if it failed, after it showed why. */
export const post = async (path: string, body?: string, form?: HTMLFormElement): Promise<Response | undefined> => {
  // otherwise the result of an earlier action looks like the result of this one
  say("")
  return check(await send(path, body), form)
}

/** Shows that the action of a button succeeded. */
export const confirm = (button: HTMLElement): void => say(`${button.ariaLabel ?? button.textContent}: done.`)

/** Checks whether the key belongs to this run, by an action without an effect. A restarted simulator has another key. */
export const checkKey = async (): Promise<void> => {
  if (!key()) return
  const response = await send("clock/advance", "{\"seconds\":0}")
  if (response?.status === 401) forgetKey()
}

/** The buttons that only send an action have it in their attributes. */
document.onclick = async ({ target }) => {
  const button = (target as HTMLElement).closest<HTMLElement>("[data-post]")
  if (!button) return
  const { body, focus, post: path = "" } = button.dataset
  if (!await post(path, body)) return
  confirm(button)
  // the button may be gone now
  if (focus) $(focus).focus()
}
