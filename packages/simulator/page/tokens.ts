import type { Token as Schema } from "../src/AdminApi.ts"
import { $, h, setText } from "./dom.ts"
import * as Rows from "./rows.ts"
import { now, words } from "./time.ts"

type Token = typeof Schema.Encoded

const fill = (element: HTMLLIElement, { expiresAt, id, issuedAt, scopes, version }: Token) => {
  const left = h("span.tag")
  const revoke = h("button", "Revoke")
  revoke.ariaLabel = `Revoke token ${id}`
  revoke.dataset["post"] = `tokens/${id}/revoke`
  revoke.dataset["focus"] = "revokeAll"
  const bar = h("div.life")
  const end = Date.parse(expiresAt)
  element.append(h("span", `${id} `, h("small", version), " ", left), revoke, h("small", scopes.join(" ")), bar)
  return ({ revoked }: Token) => {
    const remaining = revoked ? 0 : Math.max(0, end - now())
    setText(left, revoked ? "revoked" : remaining ? `${words(remaining)} left` : "expired")
    left.className = `tag ${remaining ? "good" : "bad"}`
    bar.style.backgroundSize = `${remaining / (end - Date.parse(issuedAt)) * 100}%`
    revoke.hidden = !remaining
  }
}

const [put, clear, , rows] = Rows.make($("tokens"), 100, fill)

export { clear as clearTokens, put as putToken }

/** Shows the remaining life of each token by the clock of the simulator. */
export const showLife = (): void => {
  for (const [, item, show] of rows.values()) show(item)
}
