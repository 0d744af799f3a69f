import type { Token as Schema } from "../src/internal/admin/AdminApi.ts"
import { $, button, h, setText } from "./dom.ts"
import * as Rows from "./rows.ts"
import { now, words } from "./time.ts"

type Token = typeof Schema.Encoded

/** The mark of a token. It has the same colour wherever the page shows the token. */
export const tokenMark = (id: number): HTMLElement => {
  const dot = h("i")
  // the golden angle keeps the colours of neighbours apart
  dot.style.background = `hsl(${id * 137.5} 70% 50%)`
  return h("span.token", dot, `T${id}`)
}

const fill = (element: HTMLLIElement, { expiresAt, id, issuedAt, scopes, version }: Token) => {
  const left = h("span.tag")
  const revoke = button("Revoke", `Revoke token ${id}`)
  revoke.className = "danger"
  Object.assign(revoke.dataset, { post: `tokens/${id}/revoke`, focus: "revokeAll" })
  const bar = h("div.life")
  const end = Date.parse(expiresAt)
  const names = h("small.path", `${version} ${scopes.join(" ").replaceAll(":all", "")}`)
  names.title = scopes.join(" ")
  element.append(tokenMark(id), names, left, revoke, bar)
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
