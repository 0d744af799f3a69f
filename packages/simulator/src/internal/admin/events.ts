import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as AdminApi from "./AdminApi.ts"
import type * as Change from "../../Change.ts"
import type * as Simulator from "../../Simulator.ts"
import * as views from "./views.ts"

const encodeRequest = Schema.encode(Schema.parseJson(AdminApi.Request))
const encodeToken = Schema.encode(Schema.parseJson(AdminApi.Token))
const encodeState = Schema.encode(Schema.parseJson(AdminApi.State))

/** A server-sent event (HTML standard, section 9.2). JSON has no line breaks, so its data is one line. */
const event = (id: string | undefined, name: string, data: string) =>
  `${id === undefined ? "" : `id: ${id}\n`}event: ${name}\ndata: ${data}\n\n`

/**
 * A request and the settings that it changed have one revision, and so do a reset and its settings. Only the last of them has an
 * id, or a client that lost its connection between them would miss the rest. Settings are always sent before the request.
 */
const hasId = ({ _tag }: Change.Change) => _tag === "Request" || _tag === "Token"

/** Until the first bytes arrive, an `EventSource` remains in the state "connecting". */
const opening = "retry: 1000\n\n"

/** The start is a reset and the first settings, so that a client forgets an earlier run. */
const beforeStart = -1

/** The revision after which the events are sent to a client. An id of another run counts as none. */
const revisionIn = (lastEventId: string | undefined, run: string): Option.Option<number> =>
  Option.map(
    Option.fromNullable(/^([\w-]+)\.(\d{1,15})$/.exec(lastEventId ?? "")).pipe(Option.filter(([, of]) => of === run)),
    ([, , revision]) => Number(revision)
  )

/** The data of events. Each is encoded once for all readers, or many readers would slow the simulator down. */
export interface Encoded {
  readonly simulator: Simulator.Service
  readonly data: (change: Change.Change) => Effect.Effect<string>
}

export const make = (simulator: Simulator.Service): Encoded => {
  const known = new WeakMap<object, string>()
  let state = { at: "", data: "" }
  const once = (item: object, encode: Effect.Effect<string, unknown>) =>
    Effect.suspend(() => {
      const before = known.get(item)
      return before !== undefined
        ? Effect.succeed(before)
        : Effect.tap(Effect.orDie(encode), (data) => Effect.sync(() => known.set(item, data)))
    })
  return {
    simulator,
    data: (change) => {
      switch (change._tag) {
        case "Request":
          return once(
            change.request,
            Effect.flatMap(Effect.suspend(() => views.request(simulator, change.request)), encodeRequest)
          )
        case "Token":
          return once(change.token, Effect.suspend(() => encodeToken(views.token(change.token))))
        case "Settings":
          return Effect.gen(function*() {
            // the state has the time of its clock
            const second = Math.floor(DateTime.toEpochMillis(yield* simulator.now) / 1_000)
            const at = `${change.revision}.${second}`
            if (state.at !== at) state = { at, data: yield* Effect.orDie(encodeState(yield* views.state(simulator))) }
            return state.data
          })
        case "Reset":
          return Effect.succeed("{}")
      }
    }
  }
}

/**
 * The changes of a simulator as server-sent events: what it still remembers of the time after `lastEventId`, and then every
 * change. `run` is part of each id, because a new simulator begins to count at 1.
 */
export const stream = (encoded: Encoded, run: string, lastEventId: string | undefined) => {
  const after = revisionIn(lastEventId, run)
  const names = { Request: "request", Token: "token", Settings: "state", Reset: "reset" }
  const events = Stream.mapEffect(
    encoded.simulator.changes(Option.getOrElse(after, () => beforeStart)),
    (change) =>
      Effect.map(
        encoded.data(change),
        (data) => event(hasId(change) ? `${run}.${change.revision}` : undefined, names[change._tag], data)
      )
  )
  return HttpServerResponse.stream(Stream.encodeText(Stream.concat(Stream.make(opening), events)), {
    contentType: "text/event-stream",
    headers: { "cache-control": "no-store" }
  })
}
