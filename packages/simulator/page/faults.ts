import type { PendingFault } from "../src/AdminApi.ts"
import { $, setText, showPairs } from "./dom.ts"
import { onSubmit } from "./form.ts"

type Pending = typeof PendingFault.Encoded

const json = { "content-type": "application/json" }
const later = { headers: { "retry-after": "2" }, body: "" }

/** The parts of each fault that are not in the form. The default is an answer. */
const presets: Readonly<Record<string, object>> = {
  "503 with Retry-After": { status: 503, ...later },
  "429 with Retry-After": { status: 429, ...later },
  "401 invalid_client": { status: 401, headers: json, body: "{\"error\":\"invalid_client\"}" },
  "Malformed JSON": { status: 200, headers: json, body: "{" },
  "Cut body": { _tag: "Bytes", bytes: "HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{", ending: "End" },
  Silence: { _tag: "Silence" },
  Reset: { _tag: "Reset" },
  Delay: { _tag: "Delay" },
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

// the API ignores the fields that a fault does not have
onSubmit<"target" | "preset" | "duration" | "status" | "body" | "times" | "unlimited">("fault", "faults", (fields) => ({
  target: fields.target,
  fault: {
    _tag: "Answer",
    duration: +fields.duration * 1000,
    status: +fields.status,
    body: fields.body,
    ...presets[fields.preset]
  },
  times: fields.unlimited ? "unlimited" : +fields.times
}))

const describe = ({ fault, target }: Pending) => {
  const { _tag, duration, status }: { _tag: string; duration?: number; status?: number } = fault
  return `${status ?? _tag}${duration ? ` ${duration / 1000} s` : ""} for ${
    target === "Calls" ? "calls" : "token requests"
  }`
}

/** Shows the faults that wait, and a banner while one of them does not end. */
export const showFaults = (faults: ReadonlyArray<Pending>): void => {
  showPairs(
    "faults",
    faults.map((pending) => [
      describe(pending),
      pending.remaining === "unlimited" ? "until cleared" : `${pending.remaining} left`
    ])
  )
  const outages = faults.filter(({ remaining }) => remaining === "unlimited").map(describe)
  $("outage").hidden = !outages[0]
  setText($("what"), `Outage: ${outages.join(", ")}`)
}
