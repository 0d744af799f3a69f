/**
 * The port to a token endpoint.
 *
 * @since 1.0.0
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type * as AccessScope from "./AccessScope.ts"
import type { AccessToken } from "./AccessToken.ts"
import type * as ClientCredentials from "./ClientCredentials.ts"
import type * as Environment from "./Environment.ts"
import type { Symptom } from "./internal/tokenRequest.ts"
import type { TokenError } from "./TokenError.ts"
import type { RequestReason, TokenEvent } from "./TokenEvent.ts"
import type { StoreStatus } from "./TokenStatus.ts"

/**
 * A token endpoint of one environment. Each version of the endpoint has its own adapter.
 *
 * @since 1.0.0
 * @category services
 */
export class TokenEndpoint extends Context.Tag("@credit-data/core/TokenEndpoint")<TokenEndpoint, Service>() {}

/**
 * What a token endpoint does.
 *
 * @since 1.0.0
 * @category models
 */
export interface Service {
  /** The environment whose tokens the endpoint issues. */
  readonly environment: Environment.Environment
  /** The address of the endpoint. */
  readonly url: string
  /** The version of the endpoint, as `status` shows it, if there is one. */
  readonly version?: string | undefined
  /** The id of the client for which tokens are requested, if there is one. */
  readonly clientId?: string | undefined
  /** The scopes that are requested. Empty for an endpoint without scopes. */
  readonly requestedScopes: ReadonlyArray<AccessScope.AccessScope>
  /** The time within which `requestToken` succeeds or fails, and in which the supply retries. */
  readonly deadline: Duration.Duration
  /**
   * Makes one token request, without a cache and without retries, except after a refusal if the credentials have changed. `Refresh` reads the
   * credentials again first.
   */
  readonly requestToken: (reason: RequestReason) => Effect.Effect<AccessToken, TokenError>
  /** The client's credentials, if there are any. A shared store seals its tokens under a key that is derived from them. */
  readonly credentials?: Credentials | undefined
  /** Additional members of an endpoint whose tokens are shared between processes. */
  readonly sharing?: Sharing | undefined
}

/**
 * The credentials that an endpoint sends.
 *
 * @since 1.0.0
 * @category models
 */
export interface Credentials {
  /** The credentials as they are now. A token request may have read them again. */
  readonly current: Effect.Effect<ClientCredentials.ClientCredentials>
  /** Reads the credentials again, within the deadline. If reading fails, the previous credentials remain in use. */
  readonly reread: Effect.Effect<ClientCredentials.ClientCredentials>
}

/**
 * What a decorator adds to an endpoint so that processes share one token.
 *
 * @since 1.0.0
 * @category models
 */
export interface Sharing {
  /** The time within which `requestToken` succeeds or fails, which includes the wait for another process. */
  readonly timeLimit: Duration.Duration
  /**
   * Looks for a token that another process has obtained, without a token request. The supply calls it about once a second while callers
   * ask for tokens during a pause.
   */
  readonly find: (reason: RequestReason, failure: TokenError | undefined) => Effect.Effect<Option.Option<AccessToken>>
  /** Returns whether a token came from elsewhere. */
  readonly wasFound: (token: AccessToken) => boolean
  /** The use of the shared store, for the `status` of the supply. */
  readonly status: Effect.Effect<StoreStatus>
  /** Passes the events of the shared store to a supply, which adds them to its own, until the scope closes. */
  readonly listen: (
    listener: (event: TokenEvent) => Effect.Effect<void>
  ) => Effect.Effect<void, never, Scope.Scope>
}

/**
 * The settings of a token request. Each has a default.
 *
 * @since 1.0.0
 * @category models
 */
export interface Settings {
  /** The time limit of a token request with its retries. Default: 10 seconds. */
  readonly deadline?: Duration.DurationInput | undefined
  /** Wraps the HttpClient that sends the token request. The requests that it receives contain the client secret. */
  readonly transformClient?: ((client: HttpClient.HttpClient) => HttpClient.HttpClient) | undefined
  /** Sends trace headers to the authorization server, which belongs to a third party. Default: false. */
  readonly propagateTrace?: boolean | undefined
}

export type {
  /**
   * What is known of a failed token request when its hint is chosen.
   *
   * @since 1.0.0
   * @category models
   */
  Symptom
}
