import type { State as Schema } from "../src/internal/admin/AdminApi.ts"
import { post, refuse } from "./actions.ts"
import { $, h, onceAFrame, showItems } from "./dom.ts"
import { putCounts } from "./requests.ts"
import { showFaults } from "./faults.ts"
import { onSubmit } from "./form.ts"
import { setClock } from "./time.ts"
import { showLife } from "./tokens.ts"

/** All scopes of the contract, which the build fills in. */
declare const SCOPES: ReadonlyArray<string>

type State = typeof Schema.Encoded

let state: State

const scopes = SCOPES.map((scope) => {
  const box = h("input") as HTMLInputElement
  box.type = "checkbox"
  box.value = scope
  $("scopes").append(h("label.tick", box, ` ${scope}`))
  return box
})

const showScopes = () => {
  for (const box of scopes) box.checked = (state.grantedScopes as ReadonlyArray<string>).includes(box.value)
}

$("scopes").onchange = async () => {
  const chosen = scopes.filter(({ checked }) => checked).map(({ value }) => value)
  if (!await post("scopes", JSON.stringify({ scopes: chosen }))) showScopes()
}

onSubmit<"seconds">("advance", "clock/advance", ({ seconds }) => ({ seconds: +seconds }))

onSubmit<"method" | "path" | "status" | "body">("fixture", "fixtures", (fields, form) => {
  const [path, search] = fields.path.split(/\?(.*)/)
  try {
    return {
      method: fields.method,
      path,
      query: search && Object.fromEntries(new URLSearchParams(search)),
      status: +fields.status,
      body: JSON.parse(fields.body) as unknown
    }
  } catch {
    refuse("body", form)
  }
})

const render = onceAFrame(() => {
  setClock(state)
  showLife()
  showScopes()
  showFaults(state.faults)
  showItems(
    "fixtures",
    "path",
    state.fixtures.map(({ method, next = [], path, query, status }) => [
      `${method} ${path}${query ? `?${new URLSearchParams(query)}` : ""}`,
      [status, ...next].join(" → "),
      "fixtures/remove",
      { method, path, query }
    ])
  )
})

/** The latest state, which is shown with the next frame. */
export const putState = (latest: State): void => {
  state = latest
  putCounts(latest)
  render()
}
