import * as Console from "effect/Console"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Received from "../../Received.ts"
import * as Simulator from "../../Simulator.ts"
import * as Visible from "../visible.ts"

const names = { AuthV1: "V1 ", AuthV2: "V2 ", Api: "API" }

const resultOf = Received.$match({
  Pending: () => "",
  Responded: ({ duration, error, status }) =>
    [status, ...Option.toArray(error), `${Math.round(Duration.toMillis(duration))} ms`].join("  "),
  NoResponse: ({ duration }) => `no response  ${Math.round(Duration.toMillis(duration))} ms`
})

/** One line: when, which server, what it received and how it responded. */
const line = ({ fault, method, outcome, receivedAt, server }: Received.Received, url: string) =>
  [
    DateTime.formatIso(receivedAt).slice(11, 23),
    names[server],
    method.padEnd(5),
    url.padEnd(40),
    resultOf(outcome),
    ...Option.toArray(Option.map(fault, (kind) => `fault: ${kind}`))
  ].join("  ")

/** Prints a line for each request when its outcome is known. */
export const requestLog = Effect.gen(function*() {
  const simulator = yield* Simulator.Simulator
  yield* Stream.runForEach(
    simulator.changes(0),
    (change) =>
      change._tag === "Request" && change.request.outcome._tag !== "Pending"
        ? Effect.flatMap(Visible.url(simulator, change.request), (url) => Console.log(line(change.request, url)))
        : Effect.void
  )
  return yield* Effect.never
})
