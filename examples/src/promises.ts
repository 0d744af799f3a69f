// A program without Effect, against the environment in its variables.

import { connect, isRetryable } from "@credit-data/promise"

const api = await connect()

const readConsumer = async (id: string): Promise<unknown> => {
  const response = await api.call("dataAccess", "GET", "/data-access/consumers/{id}", { id })
  return response.json()
}

try {
  console.log(await Promise.all(["41", "42", "43"].map(readConsumer)))
  console.log(`calls with one token: ${(await api.status()).tokensServed}`)
  await readConsumer("..").catch((error: unknown) => console.log(`refused, retryable: ${isRetryable(error)}`))
} finally {
  await api.close()
}
