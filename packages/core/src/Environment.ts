/**
 * One environment of the service: its name, its audience and the addresses of its servers.
 *
 * @since 1.0.0
 */
import type * as Config from "effect/Config"
import * as configuration from "./internal/configuration.ts"
import * as validation from "./internal/validation.ts"

/**
 * One environment of the service, such as sandbox or production. Hosts and audience differ per environment (service contract,
 * sections 5 and 9).
 *
 * Each adapter to a token endpoint adds the address of its authorization server, so one value can contain the addresses of
 * several servers. Every URL is absolute and uses https. Plain http is accepted for loopback hosts only. No URL has user
 * information, a query or a fragment.
 *
 * @since 1.0.0
 * @category models
 * @example
 * ```ts
 * import type { Environment } from "@credit-data/core"
 *
 * export const sandbox = {
 *   name: "sandbox",
 *   audience: "https://api.sandbox.example",
 *   baseUrl: "https://api.sandbox.example",
 *   authV1Url: "https://auth.sandbox.example",
 *   authV2Url: "https://oauth.sandbox.example"
 * } satisfies Environment.Environment & Record<"authV1Url" | "authV2Url", string>
 * ```
 */
export interface Environment {
  /** The name that errors and `status` show. */
  readonly name: string
  /** The audience identifier, sent with every token request. */
  readonly audience: string
  /** The address of the business API. A path prefix is kept. */
  readonly baseUrl: string
}

/**
 * Reads the address of an environment's server from a variable, for an adapter's authorization server.
 *
 * The address must be an absolute https URL (plain http for loopback hosts only) without user information, query or fragment.
 * It is returned without slashes at its end. A `ConfigError` names the variable and never shows its value.
 *
 * @since 1.0.0
 * @category config
 * @example
 * ```ts
 * import { Environment } from "@credit-data/core"
 *
 * export const authUrl = Environment.url("CREDIT_DATA_AUTH_V3_URL", {
 *   description: "the address of the authorization server of Auth V3",
 *   example: "https://login.sandbox.example",
 *   path: "/token"
 * })
 * ```
 */
export const url = (variable: string, options: {
  /** What the variable is. The error for a missing variable shows it. Default: `the address of a server`. */
  readonly description?: string | undefined
  /** An example of a value. The error for a missing variable shows it too. */
  readonly example?: string | undefined
  /** A path that the program adds to the address. The value of the variable must not end with it. */
  readonly path?: `/${string}` | undefined
} = {}): Config.Config<string> => {
  const { description = "the address of a server", example, path } = options
  return configuration.variable(
    { name: variable, what: path === undefined ? description : `${description}, without ${path}`, example },
    path === undefined ? validation.secureUrl : validation.withoutPath(path)
  )
}

/**
 * The variable from which each part of an environment is read, as a plain struct of Configs.
 *
 * | field | variable |
 * | --- | --- |
 * | `environment` | `CREDIT_DATA_ENVIRONMENT` |
 * | `audience` | `CREDIT_DATA_AUDIENCE` |
 * | `baseUrl` | `CREDIT_DATA_BASE_URL` |
 *
 * @since 1.0.0
 * @category config
 */
export const config = {
  environment: configuration.variable(
    { name: "CREDIT_DATA_ENVIRONMENT", what: "the name of the environment", example: "sandbox" },
    validation.text
  ),
  audience: configuration.variable(
    {
      name: "CREDIT_DATA_AUDIENCE",
      what: "the audience identifier of the environment",
      example: "https://api.sandbox.example"
    },
    validation.identifier
  ),
  baseUrl: url("CREDIT_DATA_BASE_URL", {
    description: "the address of the business API",
    example: "https://api.sandbox.example"
  })
} satisfies Record<string, Config.Config<string>>
