import { SimulatorConsole, Simulator } from "@credit-data/simulator"
import { assert } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { sendText } from "./http.ts"

/** A simulator with its admin server. */
export const Test = SimulatorConsole.layer().pipe(Layer.provideMerge(Simulator.layer()))

/** Sends an action with the key. */
export const act = (path: string, payload?: unknown) =>
  Effect.flatMap(SimulatorConsole.SimulatorConsole, ({ key, url }) =>
    sendText(`${url}${path}`, {
      method: "POST",
      headers: { "x-api-key": Redacted.value(key), "content-type": "application/json" },
      ...(payload === undefined ? {} : { body: typeof payload === "string" ? payload : JSON.stringify(payload) })
    }))

/** Reads a path of the admin server. */
export const read = (path: string, init?: RequestInit) =>
  Effect.flatMap(SimulatorConsole.SimulatorConsole, ({ url }) => sendText(`${url}${path}`, init))

/** Reads JSON from a path of the admin server. */
export const readJson = (path: string) => Effect.map(read(path), ({ text }) => JSON.parse(text))

interface Event {
  readonly id: string
  readonly event: string
  readonly data: { readonly [name: string]: unknown }
}

const field = (block: string, name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1] ?? ""

/** The first events of the stream. */
export const events = (count: number, lastEventId?: string) =>
  Effect.flatMap(
    SimulatorConsole.SimulatorConsole,
    ({ url }) =>
      Effect.promise(async (): Promise<ReadonlyArray<Event>> => {
        const headers = lastEventId === undefined ? {} : { "last-event-id": lastEventId }
        const { body } = await fetch(`${url}/api/v1/events`, { headers })
        assert(body !== null)
        const decoder = new TextDecoder()
        let text = ""
        for await (const bytes of body) {
          text += decoder.decode(bytes, { stream: true })
          // the first block is the time after which a client reconnects
          const blocks = text.split("\n\n").slice(1, -1)
          if (blocks.length >= count) {
            return blocks.slice(0, count).map((block) => ({
              id: field(block, "id"),
              event: field(block, "event"),
              data: JSON.parse(field(block, "data"))
            }))
          }
        }
        return []
      })
  )
