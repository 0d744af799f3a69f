import { connect, type Connection } from "@credit-data/promise"

const kept: typeof globalThis & { creditData?: Promise<Connection> | undefined } = globalThis

/** The connection of this process. After a hot reload, which evaluates this module again, it is the same one. */
export const creditData = (): Promise<Connection> =>
  kept.creditData ??= connect().catch((error: unknown) => {
    kept.creditData = undefined // the next call tries again
    throw error
  })
