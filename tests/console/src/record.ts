import { Effect } from "effect"
import type { Page } from "playwright-core"

/** Starts to record how long inputs take until the next frame shows them. All times ascend. */
export const record = (page: Page) =>
  Effect.promise(() =>
    page.evaluateHandle(() => {
      // methods, because tsx gives functions in variables a name by a helper that the page does not have
      const recorder = {
        typing: new Array<number>(),
        scrolling: new Array<number>(),
        // the frame after the next one begins when the next one is shown
        shown(event: Event, times: Array<number>) {
          requestAnimationFrame(() => requestAnimationFrame((now) => times.push(now - event.timeStamp)))
        }
      }
      addEventListener("keydown", (event) => recorder.shown(event, recorder.typing), true)
      addEventListener("wheel", (event) => recorder.shown(event, recorder.scrolling), { capture: true, passive: true })
      return recorder
    })
  ).pipe(Effect.map((recorder) => ({
    stop: Effect.promise(async () => {
      const { scrolling, typing } = await recorder.evaluate(({ scrolling, typing }) => ({ scrolling, typing }))
      await recorder.dispose()
      const ascending = (times: ReadonlyArray<number>) => times.toSorted((left, right) => left - right)
      return { scrolling: ascending(scrolling), typing: ascending(typing) }
    })
  })))
