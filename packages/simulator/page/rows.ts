import { onceAFrame } from "./dom.ts"

/** A row, its item, and how to show another state of it. */
type Row<A> = [element: HTMLLIElement, item: A, show: (item: A) => void]

/** A list of rows with the highest id first. It forgets the lowest ids. */
type Rows<A> = readonly [
  /** Adds the item, or shows its new state, with one of the next frames. */
  put: (item: A) => void,
  clear: () => void,
  render: () => void,
  rows: ReadonlyMap<number, Row<A>>
]

/**
 * `fill` fills a row, and returns how to show the states of its item. `perFrame` is how many items may be shown in this frame.
 * `after` runs after each frame with the number of items that are not shown yet.
 */
export const make = <A extends { readonly id: number }>(
  list: HTMLElement,
  capacity: number,
  fill: (element: HTMLLIElement, item: A) => (item: A) => void,
  perFrame: () => number = () => capacity,
  after?: (waiting: number) => void
): Rows<A> => {
  const rows = new Map<number, Row<A>>()
  const waiting = new Map<number, A>()
  let newest = 0

  const add = (item: A) => {
    const element = document.createElement("li")
    element.value = item.id
    // a response to an older request can arrive later
    let next = list.firstChild as HTMLLIElement | null
    while (next && next.value > item.id) next = next.nextSibling as HTMLLIElement | null
    list.insertBefore(element, next)
    const row: Row<A> = [element, item, fill(element, item)]
    rows.set(item.id, row)
    return row
  }

  /** In a hidden tab there are no frames, so this must not wait for one. */
  const forgetOld = (items: Map<number, unknown>) => {
    if (items.size > capacity) { for (const id of items.keys()) if (id <= newest - capacity) items.delete(id) }
  }

  const render = onceAFrame(() => {
    let left = perFrame()
    for (const [id, item] of waiting) {
      if (left-- <= 0) break
      waiting.delete(id)
      const row = rows.get(id) ?? add(item)
      row[1] = item
      row[2](item)
    }
    forgetOld(rows)
    while (list.children.length > rows.size) list.lastChild?.remove()
    if (waiting.size && perFrame()) render()
    after?.(waiting.size)
  }, 100)

  const put = (item: A) => {
    newest = Math.max(newest, item.id)
    if (item.id <= newest - capacity) return
    waiting.set(item.id, item)
    forgetOld(waiting)
    render()
  }

  const clear = () => {
    rows.clear()
    waiting.clear()
    list.replaceChildren()
    // another run of the simulator begins to count at 1
    newest = 0
    render()
  }

  return [put, clear, render, rows]
}
