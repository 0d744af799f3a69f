import * as Effect from "effect/Effect"
import type * as AdminApi from "./AdminApi.ts"
import * as Simulator from "../../Simulator.ts"

type Service = Simulator.Service

/** Queues the fault for its requests. */
export const addFault = (simulator: Service, { fault, target, times, ...selection }: typeof AdminApi.NewFault.Type) => {
  const options = { ...selection, times: times === "unlimited" ? Infinity : times }
  return target === "Calls" ? simulator.failCalls(fault, options) : simulator.failTokenRequests(fault, options)
}

/** Adds the fixture, in the place of the one with its method and path. */
export const addFixture = (simulator: Service, fixture: typeof AdminApi.Fixture.Type) =>
  Effect.flatMap(simulator.fixtures, (all) =>
    simulator.setFixtures([
      fixture,
      ...all.filter(({ method, path }) => method !== fixture.method || path !== fixture.path)
    ]))

/** Removes the fixture with this method and path, which can be masked, and returns whether there was one. */
export const removeFixture = (
  simulator: Service,
  { method, path }: { readonly method: string; readonly path: string }
) =>
  Effect.flatMap(simulator.fixtures, (all) => {
    const at = all.findIndex((fixture) =>
      fixture.method === method && [fixture.path, simulator.mask(fixture.path)].includes(path)
    )
    return Effect.as(at < 0 ? Effect.void : simulator.setFixtures(all.toSpliced(at, 1)), at >= 0)
  })

/** The variables of a program that uses the simulator. */
export const variables = (simulator: Service) =>
  Effect.provideService(Simulator.variables, Simulator.Simulator, simulator)
