import type { Server } from "node:net"

/** Listens on the loopback interface, sends the address to the parent process, and exits when the parent does. */
export const listen = (server: Server, protocol: "http" | "https" = "http"): void => {
  server.listen(0, "127.0.0.1", () => {
    const address = server.address()
    if (typeof address === "object" && address !== null) {
      process.send?.(`${protocol}://127.0.0.1:${String(address.port)}`)
    }
  })
  process.on("disconnect", () => process.exit())
}
