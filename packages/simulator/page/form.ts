import { confirm, post } from "./actions.ts"
import { $ } from "./dom.ts"

/** The fields of a form by name, as text. */
type Fields<Name extends string> = Readonly<Record<Name, string>>

/** Sends what `payload` makes of the fields. The simulator validates it. */
export const onSubmit = <Name extends string>(
  id: string,
  path: string,
  payload: (fields: Fields<Name>, form: HTMLFormElement) => unknown
): void => {
  const form = $<HTMLFormElement>(id)
  form.onsubmit = async (event) => {
    event.preventDefault()
    const body = payload(Object.fromEntries(new FormData(form, event.submitter)) as Fields<Name>, form)
    if (body && await post(path, JSON.stringify(body), form)) confirm(event.submitter as HTMLElement)
  }
}

/** Sets fields of a form by name. */
export const fillForm = (id: string, values: Readonly<Record<string, string>>): void => {
  const { elements } = $<HTMLFormElement>(id)
  for (const [name, value] of Object.entries(values)) (elements.namedItem(name) as HTMLInputElement).value = value
}
