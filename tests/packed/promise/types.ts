// The types of the package, where those of the platform come from @types/node, alone or with TypeScript's library for browsers.

import {
  connect,
  connectTest,
  type Connection,
  isRetryable,
  isTokenError,
  type Log,
  type Status
} from "@credit-data/promise"

const log: Log = console

export const read = async (api: Connection, id: string): Promise<unknown> => {
  try {
    const response = await api.call("dataAccess", "GET", "/data-access/consumers/{id}", { id })
    return await response.json()
  } catch (error) {
    if (isTokenError(error)) return error.retryable
    return isRetryable(error) ? error : undefined
  }
}

export const main = async (): Promise<Status> => {
  const api = await connect({ auth: "v1", log, fetch, credentials: async () => ({ clientId: "", clientSecret: "" }) })
  const sent = await api.furnishment("/a", {
    method: "POST",
    body: "{}",
    headers: { "content-type": "application/json" }
  })
  const text: string = await sent.text()
  const test = await connectTest((request) => new Response(`${request.url}${text}`))
  await read(test, "42")
  await test[Symbol.asyncDispose]()
  return api.status()
}

export const wrong = (api: Connection) => {
  // @ts-expect-error there is no such group
  void api.call("another", "GET", "/a", {})
  // @ts-expect-error the value of the template is missing
  void api.call("dataAccess", "GET", "/data-access/consumers/{id}", {})
}
