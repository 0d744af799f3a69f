/**
 * A connection to the API, and the options with which it is opened.
 *
 * @since 1.0.0
 */
/// <reference lib="esnext.disposable" preserve="true" />
import type { Agent } from "node:http"
import type { TokenError } from "./Failure.ts"
import type { Log } from "./Log.ts"

/**
 * The endpoint groups of the API.
 *
 * @since 1.0.0
 * @category models
 */
export type Group = "dataAccess" | "furnishment" | "enablementServices"

/**
 * The API, with one token for all calls. Open it when your program starts, and close it after your server has closed. A connection for
 * each call would request a token for each call.
 *
 * @since 1.0.0
 * @category models
 */
export interface Connection extends AsyncDisposable {
  /**
   * A `fetch` for Data Access. It adds the base URL to a relative URL, and the token unless the request has an `Authorization` header. After a
   * 401, it sends the request again with another token, unless the body is a stream or a `Request` of more than 1 MiB. After a closed
   * connection, it sends a GET, HEAD or OPTIONS again, and other requests only with an `Idempotency-Key`. A redirect is not followed: the
   * caller gets it as the response.
   *
   * It rejects if there is no token (`isTokenError`), if the token does not cover the group (`InsufficientScope`), and if no complete response
   * arrives (`CallError`). So does reading a body that breaks off. `isRetryable` returns whether a later attempt can succeed. There is no
   * timeout: pass a signal, such as `AbortSignal.timeout(15_000)`, which covers the body too.
   */
  readonly dataAccess: typeof globalThis.fetch
  /** A `fetch` for Furnishment, as `dataAccess`. */
  readonly furnishment: typeof globalThis.fetch
  /** A `fetch` for Enablement Services, as `dataAccess`. */
  readonly enablementServices: typeof globalThis.fetch
  /**
   * Calls a path that contains values, such as an id from outside. Each value is encoded, so it cannot add a segment or a query. With a
   * value that would make its segment empty, `.` or `..`, the call rejects, and nothing is sent.
   */
  readonly call: <const Template extends `/${string}`>(
    group: Group,
    method: "DELETE" | "GET" | "HEAD" | "OPTIONS" | "PATCH" | "POST" | "PUT",
    template: Template,
    values: Values<Template>,
    init?: Omit<RequestInit, "method">
  ) => Promise<Response>
  /**
   * The text of the token, for clients that cannot use these `fetch`s. Anyone who has the text can call the API until the token expires: do
   * not log it or store it. Ask for it again before each call. A 401 for it is not noticed here.
   */
  readonly token: () => Promise<string>
  /**
   * Whether calls get a token that covers a requested scope, for a health check. If they do not, it requests a token, unless there is a pause
   * after a failure, and waits for up to 800 ms. It never rejects.
   */
  readonly ready: () => Promise<boolean>
  /** The state of the token, for people and dashboards; safe to print. Sends no request. */
  readonly status: () => Promise<Status>
  /**
   * Ends the calls in progress and the bodies that are being read, which reject with a `CallError` (`Closed`), and closes the idle connections,
   * except those of your `agent`. Later calls reject too.
   */
  readonly close: () => Promise<void>
}

/**
 * The values of a path template: one for each name in it, and no other.
 *
 * @since 1.0.0
 * @category models
 */
export type Values<Template extends string> = [Names<Template>] extends [never] ? Readonly<Record<string, never>>
  : { readonly [Name in Names<Template>]: string | number }

type Names<Template extends string> = Template extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest>
  : never

/**
 * The state of the token. It contains no secret.
 *
 * @since 1.0.0
 * @category models
 */
export interface Status {
  /** The name of the environment. */
  readonly environment: string
  /** The address of the token endpoint. */
  readonly tokenEndpoint: string
  /**
   * Whether this process can get tokens, as far as it knows: false if the last token request failed and there is no valid token, and if the
   * token covers none of the requested scopes.
   */
  readonly usable: boolean
  /** The phase of the token: there is none, it is valid, its renewal is due, calls wait for its renewal, or it has expired. */
  readonly phase: "None" | "Valid" | "Due" | "Expiring" | "Expired"
  /** Whether the API rejected the token in use. */
  readonly rejected: boolean
  /** The scopes that are requested. */
  readonly requestedScopes: ReadonlyArray<string>
  /** The scopes that were granted. */
  readonly scopes: ReadonlyArray<string>
  /** The scopes that were requested and that the token does not cover. */
  readonly missingScopes: ReadonlyArray<string>
  /** How many token requests in a row have failed, with their retries. */
  readonly consecutiveFailures: number
  /** How many calls wait for a token. */
  readonly callersWaiting: number
  /** How often a token was returned. */
  readonly tokensServed: number
  /** The id of the client. */
  readonly clientId: string | undefined
  /** The version of the token endpoint: `V1` or `V2`. */
  readonly version: string | undefined
  /** When the token was requested. */
  readonly requestedAt: Date | undefined
  /** When the token expires. */
  readonly expiresAt: Date | undefined
  /** The time from which a call starts the next token request. */
  readonly nextRequestAt: Date | undefined
  /** The failure of the last token request, until there is a new token. */
  readonly lastFailure: TokenError | undefined
  /** When the first of the consecutive failures happened. */
  readonly failingSince: Date | undefined
}

/**
 * The client id and the client secret that the operator of the service issued.
 *
 * @since 1.0.0
 * @category models
 */
export interface Credentials {
  readonly clientId: string
  readonly clientSecret: string
}

/**
 * The options of `connect`.
 *
 * @since 1.0.0
 * @category models
 */
export interface Options {
  /** The version of the token endpoint. Default: the variable `CREDIT_DATA_AUTH`, or `v2`. */
  readonly auth?: "v1" | "v2" | undefined
  /** The variables to read, as names with their values. Default: `process.env`. */
  readonly variables?: Readonly<Record<string, string | undefined>> | undefined
  /**
   * Reads the credentials, such as from a secret manager, instead of the variables. It is called by `connect`, and again when the token
   * endpoint has refused the client, so that a rotated secret is read. If it rejects, so does `connect`. If it rejects later, this is logged,
   * and the previous credentials remain in use.
   */
  readonly credentials?: (() => Promise<Credentials>) | undefined
  /** Where to log. It gets every level. Default: one line of JSON to standard error for each warning and error. */
  readonly log?: Log | undefined
  /**
   * Sends the requests over `node:http`, with a proxy or certificates of your own: an `http.Agent`, or an `https.Agent` if the addresses begin
   * with `https:`. You close it yourself. Default: an agent that keeps connections for 4 seconds.
   */
  readonly agent?: Agent | undefined
  /** Sends the requests, which contain tokens or the client secret, in place of `node:http`. */
  readonly fetch?: typeof globalThis.fetch | undefined
}
