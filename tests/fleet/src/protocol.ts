import type { TokenStatus } from "@credit-data/core"

/** What a test asks of a process. */
export type Command =
  | {
    readonly do: "start"
    /** The variables of the program. */
    readonly variables: Readonly<Record<string, string>>
    /** The address of Redis, or a folder, or neither for a process that shares nothing. */
    readonly redis?: string
    readonly directory?: string
    /** How far the wall clock is ahead. */
    readonly aheadMillis?: number
  }
  | { readonly do: "get" | "replace" | "status" | "close" }
  /** Calls this address again and again, each time with the token of a `get`. */
  | { readonly do: "run"; readonly millis: number; readonly url: string }

export interface Answer {
  readonly millis?: number
  /** A hash of the token. */
  readonly token?: string | undefined
  readonly error?: string | undefined
  readonly calls?: number
  readonly errors?: ReadonlyArray<string>
  readonly store?: TokenStatus.StoreStatus | undefined
  readonly logs?: ReadonlyArray<string>
}
