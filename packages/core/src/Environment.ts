/**
 * One environment of the service: who it is, and where its servers are.
 *
 * @since 0.1.0
 */
import type * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Either from "effect/Either"
import * as field from "./internal/field.ts"
import { secureUrl } from "./internal/secureUrl.ts"

/**
 * One environment of the service, such as its sandbox or its production. Hosts and audience differ per environment, and
 * the authorization servers of V1 and V2 differ within one (service contract, sections 5 and 9).
 *
 * Every URL is absolute and uses https; plain http is accepted for loopback hosts alone. None has user information, a
 * query or a fragment.
 *
 * @since 0.1.0
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
 * } satisfies Environment.Environment
 * ```
 */
export interface Environment {
  /** What people call it: it stands in errors and in `status`. */
  readonly name: string
  /** The audience identifier, sent with every token request. */
  readonly audience: string
  /** Where the business API is. A path prefix is kept. */
  readonly baseUrl: string
  /** The authorization server of Auth V1, without `/oauth/token`. */
  readonly authV1Url?: string | undefined
  /** The authorization server of Auth V2, without `/oauth2/token`. */
  readonly authV2Url?: string | undefined
}

/** An address, and the path beneath it that people set by mistake. */
const withoutPath = (path: `/${string}`) => (text: string): field.Parsed<string> =>
  Either.filterOrLeft(
    secureUrl(text),
    (url) => !url.endsWith(path),
    () => `Expected the address without ${path}`
  )

/**
 * Where each part of an environment is read from: a plain struct of Configs. A program reads those it needs.
 *
 * | field | variable |
 * | --- | --- |
 * | `environment` | `CREDIT_DATA_ENVIRONMENT` |
 * | `audience` | `CREDIT_DATA_AUDIENCE` |
 * | `baseUrl` | `CREDIT_DATA_BASE_URL` |
 * | `authV1Url` | `CREDIT_DATA_AUTH_V1_URL` |
 * | `authV2Url` | `CREDIT_DATA_AUTH_V2_URL` |
 *
 * @since 0.1.0
 * @category config
 */
export const config = {
  environment: field.named(
    { name: "CREDIT_DATA_ENVIRONMENT", what: "the name of the environment", example: "sandbox" },
    field.text
  ),
  audience: field.named(
    {
      name: "CREDIT_DATA_AUDIENCE",
      what: "the audience identifier of the environment",
      example: "https://api.sandbox.example"
    },
    field.text
  ),
  baseUrl: field.named(
    { name: "CREDIT_DATA_BASE_URL", what: "the address of the business API", example: "https://api.sandbox.example" },
    secureUrl
  ),
  authV1Url: field.named(
    {
      name: "CREDIT_DATA_AUTH_V1_URL",
      what: "the address of the authorization server of Auth V1, without /oauth/token",
      example: "https://auth.sandbox.example"
    },
    withoutPath("/oauth/token")
  ),
  authV2Url: field.named(
    {
      name: "CREDIT_DATA_AUTH_V2_URL",
      what: "the address of the authorization server of Auth V2, without /oauth2/token",
      example: "https://oauth.sandbox.example"
    },
    withoutPath("/oauth2/token")
  )
} satisfies Record<string, Config.Config<string>>

const optionalUrl = (text: string | undefined): field.Parsed<string | undefined> =>
  text === undefined ? Either.right(undefined) : secureUrl(text)

/**
 * Checks every field and takes slashes off the ends of the URLs. The layers of this library do so when they are built.
 *
 * @since 0.1.0
 * @category validation
 */
export const validate = (environment: Environment): Either.Either<Environment, ConfigError.ConfigError> => {
  const fields = {
    name: field.at(["environment", "name"])(field.text(environment.name)),
    audience: field.at(["environment", "audience"])(field.text(environment.audience)),
    baseUrl: field.at(["environment", "baseUrl"])(secureUrl(environment.baseUrl)),
    authV1Url: field.at(["environment", "authV1Url"])(optionalUrl(environment.authV1Url)),
    authV2Url: field.at(["environment", "authV2Url"])(optionalUrl(environment.authV2Url))
  }
  return Either.andThen(field.faults(fields), Either.all(fields))
}
