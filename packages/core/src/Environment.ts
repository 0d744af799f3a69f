/**
 * One environment of the service: its name, its audience and the addresses of its servers.
 *
 * @since 1.0.0
 */
import type * as Config from "effect/Config"
import * as configuration from "./internal/configuration.ts"
import { serverAddress } from "./internal/serverAddress.ts"
import * as validation from "./internal/validation.ts"

/**
 * One environment of the service, such as sandbox or production (service contract, sections 5 and 9).
 *
 * Each adapter to a token endpoint adds the address of its authorization server, so one value can contain the addresses of
 * several servers. The URLs must be absolute and use https, or http for a loopback host, without user information, a query or a fragment.
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
  /** The name, for errors, logs and `status`. */
  readonly name: string
  /** The audience identifier, sent with every token request. */
  readonly audience: string
  /** The address of the business API. A path prefix is kept. */
  readonly baseUrl: string
}

/**
 * The Configs of an environment: `CREDIT_DATA_ENVIRONMENT`, `CREDIT_DATA_AUDIENCE` and `CREDIT_DATA_BASE_URL`.
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
  baseUrl: serverAddress("CREDIT_DATA_BASE_URL", {
    description: "the address of the business API",
    example: "https://api.sandbox.example"
  })
} satisfies Record<string, Config.Config<string>>
