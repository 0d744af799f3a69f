import { hostname } from "node:os"

/** The loopback address that reaches a server which listens on all addresses. */
const loopbackOf: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" }

/** Whether only this machine can reach a server that listens here. */
export const isLoopback = (host: string): boolean => /^(localhost|::1|127(\.\d{1,3}){3})$/.test(host)

const url = (host: string, port: number) => `http://${host.includes(":") ? `[${host}]` : host}:${port}`

/** The address of a server for other programs. All addresses of this machine have its name. */
export const publicUrl = (host: string, port: number): string => url(host in loopbackOf ? hostname() : host, port)

/** The address of a server for this process. */
export const ownUrl = (host: string, port: number): string => url(loopbackOf[host] ?? host, port)
