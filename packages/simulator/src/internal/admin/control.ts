import * as Effect from "effect/Effect"
import type * as AdminApi from "./AdminApi.ts"
import * as Simulator from "../../Simulator.ts"
import * as views from "./views.ts"

type Service = Simulator.Service

/** Queues the fault for its requests. */
export const addFault = (simulator: Service, { fault, target, times, ...selection }: typeof AdminApi.NewFault.Type) => {
  const options = { ...selection, times: times === "unlimited" ? Infinity : times }
  return target === "Calls" ? simulator.failCalls(fault, options) : simulator.failTokenRequests(fault, options)
}

interface Selection {
  readonly method: string
  readonly path: string
  readonly query?: Readonly<Record<string, string>> | undefined
}

/** The same for the same calls, in whatever order they name the parameters of the query. */
const textOf = ({ method, path, query }: Selection) => {
  const parameters = new URLSearchParams(query)
  parameters.sort()
  return `${method} ${path}?${parameters}`
}

/** Adds the fixture, in the place of the one with its method, path and query. */
export const addFixture = (simulator: Service, fixture: typeof AdminApi.Fixture.Type) =>
  Effect.flatMap(
    simulator.fixtures,
    (all) => simulator.setFixtures([fixture, ...all.filter((other) => textOf(other) !== textOf(fixture))])
  )

/** Removes the fixture with this method, path and query, which can be masked, and returns whether there was one. */
export const removeFixture = (simulator: Service, selection: Selection) =>
  Effect.flatMap(simulator.fixtures, (all) => {
    const wanted = textOf(selection)
    const at = all.findIndex((fixture) =>
      [textOf(fixture), textOf(views.selection(simulator, fixture))].includes(wanted)
    )
    return Effect.as(at < 0 ? Effect.void : simulator.setFixtures(all.toSpliced(at, 1)), at >= 0)
  })

/** The variables of a program that uses the simulator. */
export const variables = (simulator: Service) =>
  Effect.provideService(Simulator.variables, Simulator.Simulator, simulator)
