// A program with Promises: the first call gets the token that the environment describes. It can run in a worker.

import { connect } from "@credit-data/promise"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { isMainThread, Worker } from "node:worker_threads"

const [, , ending, thread] = process.argv

const main = async () => {
  const api = await connect()
  try {
    const response = await api.dataAccess("/data-access/consumers/42")
    console.log(response.status)
  } catch (error) {
    console.log(String(error))
  }
  if (ending === "close") await api.close()
}

if (isMainThread && thread === "worker") {
  await once(new Worker(fileURLToPath(import.meta.url), { argv: [ending] }), "exit")
} else await main()
