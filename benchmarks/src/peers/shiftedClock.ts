/** Clocks of this process that can be put forward, so that a day passes in seconds. */
export const shiftedClock = () => {
  const { Date: realDate, performance } = globalThis
  const monotonic = performance.now.bind(performance)
  let shift = 0
  const now = () => realDate.now() + shift
  globalThis.Date = new Proxy(realDate, {
    construct: (target, values: ReadonlyArray<unknown>) =>
      Reflect.construct(target, values.length === 0 ? [now()] : values),
    get: (target, key): unknown => key === "now" ? now : Reflect.get(target, key)
  })
  performance.now = () => monotonic() + shift
  return {
    /** Returns by how much the clocks are ahead. */
    forward: (millis: number): number => shift += millis,
    restore: () => {
      globalThis.Date = realDate
      performance.now = monotonic
    }
  }
}
