/** Writes a line of JSON to standard output, for the collector of a container's output. */
export const log = (level: string, message: string): void =>
  console.log(JSON.stringify({ time: new Date().toISOString(), level, message }))
