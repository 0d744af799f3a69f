import type { TokenStatus } from "@credit-data/core"

/** What a test commands a process to do. */
export type Command =
  | {
    readonly do: "start"
    /** The variables of the program. */
    readonly variables: Readonly<Record<string, string>>
    /** The address of Redis, or a file with it, or a folder, or neither for a process that shares nothing. */
    readonly redis?: string
    readonly redisFile?: string
    readonly directory?: string
    /** How far the wall clock is ahead. */
    readonly aheadMillis?: number
    /** The pauses after failures have no random part: 750 ms, which doubles. */
    readonly hasConstantPauses?: boolean
    /** The pause between two renewals of rejected tokens. */
    readonly forcedRenewalMillis?: number
  }
  | { readonly do: "get" | "replace" | "status" | "measure" | "close" }
  /** Calls this address again and again, each time with the token of a `get`. */
  | { readonly do: "run"; readonly millis: number; readonly url: string }
  /** Does so until the supply is closed, as this process, and reports each call. */
  | { readonly do: "load"; readonly url: string; readonly process: string }

/** A call of a process under load. Times are the machine's, in milliseconds. */
export interface Call {
  readonly process: string
  readonly from: number
  readonly until: number
  /** When its token was requested, as recorded by the process. */
  readonly requestedAt?: number | undefined
  /** How long it waited for its token. */
  readonly waited: number
  /** Why it failed. */
  readonly error?: string | undefined
}

/** A time in which the event loop of a process did not run. */
export interface Delay {
  readonly process: string
  readonly from: number
  readonly until: number
}

export interface CommandResult {
  readonly millis?: number
  /** A hash of the token. */
  readonly token?: string | undefined
  readonly error?: string | undefined
  readonly calls?: number
  readonly errors?: ReadonlyArray<string>
  readonly store?: TokenStatus.StoreStatus | undefined
  readonly logs?: ReadonlyArray<string>
  /** The used heap in bytes after a collection. */
  readonly heap?: number
  readonly sockets?: number
}
