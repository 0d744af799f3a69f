/** The exit code of the program of `exec`, once it has exited. A signal interrupts this process too, but the program decides. */
export const last: { code?: number } = {}
