import { hostname } from "node:os"

/** Stand for all addresses of this machine. */
const wildcards: ReadonlyArray<string> = ["0.0.0.0", "::"]

/** Whether only this machine can reach a server that listens here. */
export const isLoopback = (host: string): boolean => /^(localhost|::1|127(\.\d{1,3}){3})$/.test(host)

/** The address of a server. All addresses of this machine have its name. */
export const publicUrl = (host: string, port: number): string => {
  const name = wildcards.includes(host) ? hostname() : host
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}`
}
