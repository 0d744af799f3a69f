import * as Effect from "effect/Effect"
import type * as AdminApi from "../../AdminApi.ts"
import type * as Simulator from "../../Simulator.ts"
import * as views from "./views.ts"

const textOf = ({ body, error, fault, headers, method, response, status, url }: typeof AdminApi.RequestDetail.Type) =>
  [
    `${method} ${url} ${status ?? ""} ${error ?? ""} ${fault ?? ""}`,
    ...[headers, response?.headers ?? {}].flatMap((all) => Object.entries(all).map((header) => header.join(": "))),
    body.text,
    response?.body.text ?? ""
  ].join("\n").toLowerCase()

/** The requests in which people can see this text. */
export const search = (simulator: Simulator.Service, text: string) =>
  Effect.flatMap(simulator.received, (all) =>
    Effect.filter(all, (received) =>
      Effect.map(
        // many long bodies must not block the simulator's servers
        Effect.zipRight(Effect.yieldNow(), views.detail(simulator, received)),
        (detail) => textOf(detail).includes(text.toLowerCase())
      )))
