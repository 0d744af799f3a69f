import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as AdminApi from "../../AdminApi.ts"
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

/** Until the first bytes arrive, an `EventSource` stays in the state "connecting". */
const opening = "retry: 1000\n\n"

/** The start is a reset and the first settings, so that a client forgets an earlier run. */
const beforeStart = -1

/** The revision after which a client wants the events. An id of another run counts as none. */
const revisionIn = (lastEventId: string | undefined, run: string): Option.Option<number> =>
  Option.map(
    Option.fromNullable(/^([\w-]+)\.(\d{1,15})$/.exec(lastEventId ?? "")).pipe(Option.filter(([, of]) => of === run)),
    ([, , revision]) => Number(revision)
  )

/**
 * The changes of a simulator as server-sent events: what it still remembers of the time after `lastEventId`, and then every
 * change. `run` is part of each id, because a new simulator begins to count at 1.
 */
export const stream = (simulator: Simulator.Service, run: string, lastEventId: string | undefined) => {
  const after = revisionIn(lastEventId, run)
  const data = (change: Change.Change) => {
    switch (change._tag) {
      case "Request":
        return Effect.flatMap(views.request(simulator, change.request), encodeRequest)
      case "Token":
        return encodeToken(views.token(change.token))
      case "Settings":
        return Effect.flatMap(views.state(simulator), encodeState)
      case "Reset":
        return Effect.succeed("{}")
    }
  }
  const names = { Request: "request", Token: "token", Settings: "state", Reset: "reset" }
  const events = Stream.mapEffect(
    simulator.changes(Option.getOrElse(after, () => beforeStart)),
    (change) =>
      Effect.map(
        Effect.orDie(data(change)),
        (data) => event(hasId(change) ? `${run}.${change.revision}` : undefined, names[change._tag], data)
      )
  )
  return HttpServerResponse.stream(Stream.encodeText(Stream.concat(Stream.make(opening), events)), {
    contentType: "text/event-stream",
    headers: { "cache-control": "no-store" }
  })
}
