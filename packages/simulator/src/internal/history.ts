import * as Option from "effect/Option"

interface Entry<A> {
  readonly item: A
  /** The revision at which the item was added or last changed. */
  readonly revision: number
}

/** The newest items of one kind, by id. It forgets the oldest item when it has `capacity` items. */
export interface History<A> {
  readonly add: (revision: number, make: (id: number) => A) => A
  readonly change: (revision: number, id: number, change: (item: A) => A) => void
  readonly get: (id: number) => Option.Option<A>
  readonly all: () => ReadonlyArray<A>
  /** What changed after this revision. */
  readonly since: (revision: number) => ReadonlyArray<Entry<A>>
  /** Forgets all items. Ids go on, so that a late change cannot reach an item of another time. */
  readonly clear: () => void
}

/** How much all items may weigh. Above that, the oldest items are made lighter. By default, nothing has a weight. */
export interface Limit<A> {
  readonly most: number
  readonly weightOf: (item: A) => number
  /** The item without what makes it heavy. */
  readonly lighten: (item: A) => A
}

export const make = <A>(
  capacity: number,
  { lighten, most, weightOf }: Limit<A> = { most: 0, weightOf: () => 0, lighten: (item) => item }
): History<A> => {
  const entries = new Map<number, Entry<A>>()
  let newest = 0
  let total = 0
  /** All items up to this id are light. */
  let light = 0

  const put = (id: number, item: A, revision: number) => {
    const before = entries.get(id)
    const kept = id <= light ? lighten(item) : item
    total += weightOf(kept) - (before === undefined ? 0 : weightOf(before.item))
    entries.set(id, { item: kept, revision })
    return kept
  }

  const forget = (id: number) => {
    const entry = entries.get(id)
    if (entry === undefined) return
    total -= weightOf(entry.item)
    entries.delete(id)
  }

  const lightenOldest = () => {
    for (let id = light + 1; id <= newest; id++) {
      if (total <= most) return
      light = id
      const entry = entries.get(id)
      if (entry !== undefined) put(id, entry.item, entry.revision)
    }
  }

  return {
    add: (revision, make) => {
      newest += 1
      const item = put(newest, make(newest), revision)
      forget(newest - capacity)
      lightenOldest()
      return item
    },
    change: (revision, id, change) => {
      const found = entries.get(id)
      if (found === undefined) return
      put(id, change(found.item), revision)
      lightenOldest()
    },
    get: (id) => Option.map(Option.fromNullable(entries.get(id)), ({ item }) => item),
    all: () => Array.from(entries.values(), ({ item }) => item),
    since: (revision) => Array.from(entries.values()).filter((entry) => entry.revision > revision),
    clear: () => {
      entries.clear()
      total = 0
    }
  }
}
