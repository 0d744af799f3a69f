import type { PendingFault } from "../src/internal/admin/AdminApi.ts"
import { $, setText, showItems } from "./dom.ts"
import { fillForm, onSubmit } from "./form.ts"

type Pending = typeof PendingFault.Encoded

const json = { "content-type": "application/json" }
const later = { "retry-after": "2" }
const respond = (status: number, headers: object, body = "") => ({ _tag: "Response", status, headers, body })

/** Prepared faults by name. */
const presets: Readonly<Record<string, object>> = {
  "503 with Retry-After": respond(503, later),
  "429 with Retry-After": respond(429, later),
  "401 invalid_client": respond(401, json, "{\"error\":\"invalid_client\"}"),
  "Malformed JSON": respond(200, json, "{"),
  "Cut body": { _tag: "Bytes", bytes: "HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{", ending: "End" }
}

/** The faults of the admin API, whose fields are in the form. */
const kinds = ["Silence", "Reset", "Delay", "Response", "Bytes", "Drip", "Endless"]

const preset = $<HTMLSelectElement>("preset")
preset.append(...[...Object.keys(presets), ...kinds].map((name) => new Option(name)))

/** Shows the fields that the chosen fault has. */
const showFields = () => {
  for (const label of document.querySelectorAll<HTMLElement>("[data-for]")) {
    label.hidden = !label.dataset["for"]?.split(" ").includes(preset.value)
  }
}
preset.onchange = showFields
showFields()

const headersIn = (lines: string) =>
  Object.fromEntries(
    lines.split("\n").filter(Boolean).map((line) => {
      const [name, value = ""] = line.split(/: *(.*)/)
      return [name, value]
    })
  )

const valueOf = ({ name, type, value }: HTMLInputElement) => {
  if (type === "number") return +value
  if (name.endsWith("headers")) return headersIn(value)
  // the lines of HTTP end so (RFC 9112, section 2.2)
  return name.endsWith("bytes") ? value.replaceAll("\n", "\r\n") : value
}

/** The fields whose labels are shown, by their paths in the payload. Only bytes can be empty. */
onSubmit("fault", "faults", (_, form) => {
  const fault: Record<string, unknown> = { ...presets[preset.value] ?? { _tag: preset.value } }
  const payload: Record<string, unknown> = { fault }
  for (const field of form.querySelectorAll<HTMLInputElement>("label:not([hidden]) > [name]")) {
    const { name, value } = field
    if (!value && name !== "fault.bytes") continue
    if (name.startsWith("fault.")) fault[name.slice(6)] = valueOf(field)
    else payload[name] = valueOf(field)
  }
  if ($<HTMLInputElement>("unlimited").checked) payload["times"] = "unlimited"
  return payload
})

/** Fills the form with the method and the path of a request. */
export const failPath = (target: string, method: string, path: string): void => {
  fillForm("fault", { target, method, path })
  $<HTMLDetailsElement>("only").open = true
  preset.focus()
}

const describe = ({ fault, milliseconds, only, status, target }: Pending) =>
  `${status ?? fault}${milliseconds ? ` ${milliseconds / 1000} s` : ""} for ${
    target === "Calls" ? "calls" : "token requests"
  }${only ? ` (${only})` : ""}`

/** Shows the faults that wait, and a banner while one of them does not end. */
export const showFaults = (faults: ReadonlyArray<Pending>): void => {
  showItems(
    "faults",
    "preset",
    faults.map((pending) => [
      describe(pending),
      pending.remaining === "unlimited" ? "until cleared" : `${pending.remaining} left`,
      `faults/${pending.id}/remove`
    ])
  )
  const outages = faults.filter(({ remaining }) => remaining === "unlimited").map(describe)
  $("outage").hidden = !outages[0]
  setText($("what"), `Outage: ${outages.join(", ")}`)
}
