import { listen, listenForSockets } from "@credit-data/test-support/listen"
import { Effect } from "effect"
import { createServer, type RequestListener } from "node:http"
import type { Socket } from "node:net"
import { tokenPrefix } from "./canaries.ts"

const addressOf = (port: number) => `http://127.0.0.1:${port}`

/** A server on a raw socket. Returns its address. */
export const serveSockets = (onSocket: (socket: Socket) => void) => Effect.map(listenForSockets(onSocket), addressOf)

/** An HTTP server. Returns its address. */
export const serveHttp = (onRequest: RequestListener) => Effect.map(listen(createServer(onRequest)), addressOf)

/** The bytes of a response with this body, over a connection that remains open unless a header closes it. */
export const respond = (body: string, ...headers: ReadonlyArray<string>) =>
  ["HTTP/1.1 200 OK", "Content-Type: application/json", `Content-Length: ${body.length}`, ...headers, "", body].join(
    "\r\n"
  )

/** A token response that follows the contract, with a token of this number. */
export const granted = (number: number) => ({
  access_token: `${tokenPrefix}2.${number}`,
  scope: "data-access:all",
  expires_in: 86_400,
  token_type: "Bearer"
})
