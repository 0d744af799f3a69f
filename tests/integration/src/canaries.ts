/** Text that must never be shown: the client secret, or text of a server that must not be printed. */
export const canary = "canary-of-the-client-secret-of-40-letters"

/** The prefix of every token of the simulator. */
export const tokenPrefix = "simulated.V"
