/** What must never show: the client secret, and whatever else of a server must not be printed. */
export const canary = "canary-of-the-client-secret"

/** The part that every token of the simulator begins with. */
export const tokenPrefix = "simulated.V"
