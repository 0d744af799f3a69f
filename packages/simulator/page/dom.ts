/** The element with this id. The page has it from the start. */
export const $ = <A extends HTMLElement = HTMLElement>(id: string): A => document.getElementById(id) as A

/** A new element, such as `span`, or `span.tag` with a class. Text goes in as text, so what a request contains never becomes markup. */
export const h = (name: string, ...children: ReadonlyArray<Node | string>): HTMLElement => {
  const [tag = "", className = ""] = name.split(".")
  const element = document.createElement(tag)
  element.className = className
  element.append(...children)
  return element
}

/** A button. The label is its accessible name if the text is not enough. */
export const button = (text: string, label = text): HTMLElement => {
  const element = h("button", text)
  element.ariaLabel = label
  return element
}

/** Sets the text only if it changed, so that the browser has nothing to do otherwise. */
export const setText = (element: HTMLElement, text: string | number): void => {
  if (element.textContent !== `${text}`) element.textContent = `${text}`
}

/** A count with its noun. */
export const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`

/** What a list shows of an item, and how to remove the item. */
type Item = readonly [text: string, mark: string | number, path: string, payload?: object]

/** Fills a list with items. `focus` is the id of the control that gets the focus when the focused item has been removed. */
export const showItems = (id: string, focus: string, items: ReadonlyArray<Item>): void => {
  const list = $(id)
  const focused = list.contains(document.activeElement) ? (document.activeElement as HTMLElement).ariaLabel : ""
  list.replaceChildren(...items.map(([text, mark, path, payload]) => {
    const remove = button("Remove", `Remove ${text}`)
    remove.className = "danger"
    Object.assign(remove.dataset, { post: path, body: JSON.stringify(payload), focus })
    return h("li", text, h("span.tag", `${mark}`), remove)
  }))
  if (focused) [...list.querySelectorAll("button")].find(({ ariaLabel }) => ariaLabel === focused)?.focus()
}

/**
 * Makes a change with the next frame, however often it is asked for, and at most once in the interval. Most of the cost of a change
 * is the work of the browser in its frame.
 */
export const onceAFrame = (change: () => void, interval = 0): () => void => {
  let isWaiting = false
  let last = -interval
  const inFrame = () =>
    requestAnimationFrame(() => {
      isWaiting = false
      last = performance.now()
      change()
    })
  return () => {
    if (isWaiting) return
    isWaiting = true
    const left = last + interval - performance.now()
    if (left > 0) setTimeout(inFrame, left)
    else inFrame()
  }
}
