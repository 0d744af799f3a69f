import type { State as Schema } from "../src/internal/admin/AdminApi.ts"
import { post, refuse } from "./actions.ts"
import { $, h, onceAFrame, showItems } from "./dom.ts"
import { putCounts } from "./requests.ts"
import { showFaults } from "./faults.ts"
import { onSubmit } from "./form.ts"
import { setClock } from "./time.ts"
import { showLife } from "./tokens.ts"

type State = typeof Schema.Encoded

let state: State

const scopes = ["data-access", "furnishment", "serviceplus"].map((group) => {
  const box = h("input") as HTMLInputElement
  box.type = "checkbox"
  box.value = `${group}:all`
  $("scopes").append(h("label.tick", box, ` ${box.value}`))
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

onSubmit<"method" | "path" | "status" | "body">("fixture", "fixtures", ({ body, method, path, status }, form) => {
  try {
    return { method, path, status: +status, body: JSON.parse(body) as unknown }
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
    state.fixtures.map(({ method, path, status }) => [
      `${method} ${path}`,
      status,
      "fixtures/remove",
      { method, path }
    ])
  )
})

/** The latest state, which is shown with the next frame. */
export const putState = (latest: State): void => {
  state = latest
  putCounts(latest)
  render()
}
