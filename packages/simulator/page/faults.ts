import type { PendingFault } from "../src/internal/admin/AdminApi.ts"
import { $, setText, showItems } from "./dom.ts"
import { onSubmit } from "./form.ts"

type Pending = typeof PendingFault.Encoded

const json = { "content-type": "application/json" }
const later = { "retry-after": "2" }
const respond = (status: number, headers: object, body = "") => ({ _tag: "Response", status, headers, body })

/** The faults. Those of Delay and Custom are in the form. */
const presets: Readonly<Record<string, object>> = {
  "503 with Retry-After": respond(503, later),
  "429 with Retry-After": respond(429, later),
  "401 invalid_client": respond(401, json, "{\"error\":\"invalid_client\"}"),
  "Malformed JSON": respond(200, json, "{"),
  "Cut body": { _tag: "Bytes", bytes: "HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{", ending: "End" },
  Silence: { _tag: "Silence" },
  Reset: { _tag: "Reset" },
  Delay: {},
  Custom: {}
}

const preset = $<HTMLSelectElement>("preset")
preset.append(...Object.keys(presets).map((name) => new Option(name)))

/** Shows the fields that the chosen fault has. */
const showFields = () => {
  for (const label of document.querySelectorAll<HTMLElement>("[data-for]")) {
    label.hidden = label.dataset["for"] !== preset.value
  }
}
preset.onchange = showFields
showFields()

onSubmit<"target" | "preset" | "duration" | "status" | "body" | "times" | "unlimited">("fault", "faults", (fields) => ({
  target: fields.target,
  fault: fields.preset === "Delay"
    ? { _tag: "Delay", duration: +fields.duration * 1000 }
    : fields.preset === "Custom"
    ? respond(+fields.status, {}, fields.body)
    : presets[fields.preset],
  times: fields.unlimited ? "unlimited" : +fields.times
}))

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
