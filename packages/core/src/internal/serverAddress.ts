import type * as Config from "effect/Config"
import * as configuration from "./configuration.ts"
import * as validation from "./validation.ts"

/** Reads the address of a server from a variable: an absolute https URL (plain http for loopback hosts only), without slashes at its end. */
export const serverAddress = (name: string, { description, example, path }: {
  /** What the variable is. The error for a missing variable shows it. */
  readonly description: string
  readonly example?: string | undefined
  /** A path that is added to the address, so the value must not end with it. */
  readonly path?: `/${string}` | undefined
}): Config.Config<string> =>
  configuration.variable(
    { name, what: path === undefined ? description : `${description}, without ${path}`, example },
    path === undefined ? validation.secureUrl : validation.withoutPath(path)
  )
