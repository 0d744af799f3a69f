import type { Body as BodySchema, RequestDetail } from "../src/internal/admin/AdminApi.ts"
import { copy, quoted } from "./copy.ts"
import { $, button, count, h } from "./dom.ts"
import { failPath } from "./faults.ts"
import { fillForm } from "./form.ts"
import { isLocked } from "./key.ts"
import { tokenMark } from "./tokens.ts"

export type Detail = typeof RequestDetail.Encoded
type Body = typeof BodySchema.Encoded

/** A request that belongs to this one, and how. */
export type Relation = readonly [text: string, ids: ReadonlyArray<number>]

/** The value of a JSON text, or nothing. */
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const formatted = ({ text }: Body) => {
  const json = parsed(text)
  return json === undefined ? text : JSON.stringify(json, null, 2)
}

/** curl sets these itself, or they belong to the connection. */
const ownHeader = /^(host|connection|content-length|accept-encoding|transfer-encoding|sec-.*|authorization)$/

/** A command that sends the request. Masked values are variables of the shell, which curl reads from its input. */
const curl = ({ body, headers, method, server, url }: Detail, base: string) => {
  const parts = [`curl -g -i -X ${method} ${quoted(base + url)}`]
  let input = ""
  for (const [name, value] of Object.entries(headers)) {
    if (!ownHeader.test(name) && value !== "***") parts.push(`-H ${quoted(`${name}: ${value}`)}`)
  }
  if (server === "Api") {
    if (headers["authorization"]) {
      input = "printf 'Authorization: Bearer %s' \"$TOKEN\" | "
      parts.push("-H @-")
    }
    if (body.text) parts.push(`--data-raw ${quoted(body.text)}`)
  } else {
    for (const field of body.text.split("\n").filter(Boolean)) {
      const isSecret = field === "client_secret=***"
      if (isSecret) input = "printf %s \"$CREDIT_DATA_CLIENT_SECRET\" | "
      parts.push(`--data-urlencode ${isSecret ? "client_secret@-" : quoted(field)}`)
    }
  }
  return input + parts.join(" \\\n  ")
}

const pathOf = (url: string) => url.replace(/\?.*/, "")

/** Fills the form of a fixture with the request and its response. */
const fillFixture = ({ method, response, url }: Detail) => {
  const succeeded = response && response.status < 300
  const hasBody = succeeded && response.body.text && parsed(response.body.text) !== undefined
  fillForm("fixture", {
    method: method === "HEAD" ? "GET" : method,
    path: pathOf(url),
    status: `${succeeded ? response.status : 200}`,
    body: hasBody ? formatted(response.body) : "{}"
  })
  $("response").focus()
}

const part = (name: string, headers: Detail["headers"], body: Body) => {
  const copyBody = button("Copy", `Copy the body of the ${name.toLowerCase()}`)
  copyBody.onclick = () => copy(body.text, "Copied.")
  const cut = h("small", `Cut: the body has ${count(body.size, "byte")}.`)
  return h(
    "section",
    h("h3", name),
    h("pre", Object.entries(headers).map((header) => header.join(": ")).join("\n")),
    ...body.text
      ? [h("div.row", h("small", `Body, ${count(body.size, "byte")}`), copyBody), h("pre", formatted(body))]
      : [],
    ...body.cut ? [cut] : body.size ? [] : [h("small", "No body")]
  )
}

/** Why the request failed, as far as the response or the fault shows it. */
const reason = ({ error, fault, milliseconds, response }: Detail) => {
  if (fault) return `The fault ${fault} was applied.`
  if (!response) return milliseconds === null ? "No response yet." : "The connection ended without a response."
  const json = parsed(response.body.text) as { readonly error_description?: string } | null | undefined
  return response.status < 400 ? "" : json?.error_description ?? error ?? ""
}

/** What the page shows of an open request. */
export const detailOf = (
  detail: Detail,
  base: string,
  relations: ReadonlyArray<Relation>,
  open: (id: number) => void
): HTMLElement => {
  const { body, headers, id, issuedToken, milliseconds, receivedAt, response, server, token } = detail
  const keep = button("Make fixture")
  keep.onclick = () => fillFixture(detail)
  const asCurl = button("Copy as curl")
  asCurl.onclick = () => copy(curl(detail, base), "Copied. Set the variables in it.")
  const fail = button("Fail this path")
  fail.onclick = () => failPath(server === "Api" ? "Calls" : "TokenRequests", detail.method, pathOf(detail.url))
  const actions = h("fieldset", fail, ...server === "Api" ? [" ", keep] : []) as HTMLFieldSetElement
  actions.disabled = isLocked()
  const mark = token ?? issuedToken
  const why = reason(detail)
  return h(
    "div.detail",
    ...why ? [h("p.why", why)] : [],
    h("div.row", actions, asCurl, h("small", `Request ${id}, ${receivedAt}`)),
    ...relations.map(([text, ids]) =>
      h(
        "div.row",
        ...mark ? [tokenMark(mark)] : [],
        h("small", text),
        ...ids.map((id) => {
          const link = button(`${id}`, `Open request ${id}`)
          link.onclick = () => open(id)
          return link
        })
      )
    ),
    h("p.url", detail.url),
    h(
      "div.parts",
      part("Request", headers, body),
      response
        ? part(`Response ${response.status}`, response.headers, response.body)
        : h("section", h("h3", "Response"), h("small", milliseconds === null ? "Pending" : "None"))
    )
  )
}
