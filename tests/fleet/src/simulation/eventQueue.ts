/** Items in the order of their times: a binary heap. The times have their own array, which the processor reads fast. */
export interface EventQueue<Item> {
  /** Adds an item for a time, in milliseconds from the start. An item after the end is dropped. */
  readonly add: (at: number, item: Item) => void
  /** Takes all items, including items that are added meanwhile. */
  readonly takeAll: (use: (item: Item, now: number) => void) => void
}

export const make = <Item>(end: number): EventQueue<Item> => {
  const times: Array<number> = []
  const items: Array<Item> = []

  const put = (place: number, at: number, item: Item) => {
    times[place] = at
    items[place] = item
  }

  const move = (from: number, to: number) => {
    const at = times[from]
    const item = items[from]
    if (at !== undefined && item !== undefined) put(to, at, item)
  }

  /** Moves a new item up from the end of the heap to its place. */
  const rise = (at: number, item: Item) => {
    let place = times.length
    while (place > 0) {
      const above = (place - 1) >> 1
      if ((times[above] ?? 0) <= at) break
      move(above, place)
      place = above
    }
    put(place, at, item)
  }

  /** Moves an item down from the top of the heap to its place. */
  const sink = (at: number, item: Item) => {
    let place = 0
    for (;;) {
      const left = 2 * place + 1
      const atLeft = times[left] ?? Number.POSITIVE_INFINITY
      const atRight = times[left + 1] ?? Number.POSITIVE_INFINITY
      if (Math.min(atLeft, atRight) >= at) break
      const below = atRight < atLeft ? left + 1 : left
      move(below, place)
      place = below
    }
    put(place, at, item)
  }

  return {
    add: (at, item) => {
      if (at < end) rise(at, item)
    },
    takeAll: (use) => {
      for (;;) {
        const now = times[0]
        const item = items[0]
        if (now === undefined || item === undefined) return
        const lastAt = times.pop()
        const last = items.pop()
        if (lastAt !== undefined && last !== undefined && times.length > 0) sink(lastAt, last)
        use(item, now)
      }
    }
  }
}
