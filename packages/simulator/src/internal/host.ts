import { hostname } from "node:os"

/** Stand for all addresses of this machine. */
const wildcards: ReadonlyArray<string> = ["0.0.0.0", "::"]

/** The address of a server. All addresses of this machine have its name. */
export const publicUrl = (host: string, port: number): string => {
  const name = wildcards.includes(host) ? hostname() : host
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}`
}
