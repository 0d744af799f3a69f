import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import type { RedisClient } from "../RedisClient.ts"
import { codeOf } from "./causes.ts"

const guarded = new WeakSet()

/** A cluster drops the promise of this command while a slot moves, and its rejection would end the process. */
const catchAsking = (node: unknown): void => {
  if (!Predicate.hasProperty(node, "asking") || !Predicate.isFunction(node.asking) || guarded.has(node)) return
  guarded.add(node)
  const { asking } = node
  Object.assign(node, {
    asking: (...args: ReadonlyArray<unknown>): unknown => {
      const sent: unknown = Reflect.apply(asking, node, args)
      Promise.resolve(sent).catch(() => {})
      return sent
    }
  })
}

/**
 * Makes sure that a fault of the server cannot end the process, and remembers why a connection failed: the driver reports that as an event,
 * and a closed connection to the operation.
 */
export const guard = (client: RedisClient): Effect.Effect<() => string | undefined, never, Scope.Scope> => {
  let last: string | undefined
  const listeners: ReadonlyArray<readonly [event: string, listener: (value: unknown) => void]> = [
    ["error", (error) => void (last = codeOf(error) ?? last)],
    ["node error", (error) => void (last = codeOf(error) ?? last)],
    ["ready", () => void (last = undefined)],
    ["+node", catchAsking]
  ]
  return Effect.acquireRelease(
    Effect.sync(() => {
      for (const node of client.nodes?.() ?? []) catchAsking(node)
      for (const [event, listener] of listeners) client.on(event, listener)
      return () => last
    }),
    () =>
      Effect.sync(() => {
        for (const [event, listener] of listeners) client.off(event, listener)
      })
  )
}
