import * as Option from "effect/Option"

interface Entry<A> {
  readonly item: A
  /** The revision at which the item was added or last changed. */
  readonly revision: number
}

/** The newest items of one kind, by id. It forgets the oldest item when it holds `capacity` items. */
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

export const make = <A>(capacity: number): History<A> => {
  const entries = new Map<number, Entry<A>>()
  let newest = 0
  return {
    add: (revision, make) => {
      newest += 1
      const item = make(newest)
      entries.set(newest, { item, revision })
      entries.delete(newest - capacity)
      return item
    },
    change: (revision, id, change) => {
      const found = entries.get(id)
      if (found !== undefined) entries.set(id, { item: change(found.item), revision })
    },
    get: (id) => Option.map(Option.fromNullable(entries.get(id)), ({ item }) => item),
    all: () => Array.from(entries.values(), ({ item }) => item),
    since: (revision) => Array.from(entries.values()).filter((entry) => entry.revision > revision),
    clear: () => entries.clear()
  }
}
