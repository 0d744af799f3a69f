// A program of a new user: a call, a refused client, wrong variables, and a test.

import { ConfigError, connect, connectTest, InvalidClient, isRetryable } from "@credit-data/promise"

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const path = "/data-access/consumers/42"
const rejection = (promise) => promise.then(() => "it did not reject", (error) => error)

const api = await connect()
const response = await api.dataAccess(path)
const consumer = await response.json()
console.log(response.status, consumer.path)
await api.close()

const variables = { ...process.env, CREDIT_DATA_CLIENT_SECRET: "another secret" }
const refused = await connect({ variables, log: silent })
const error = await rejection(refused.dataAccess(path))
console.log(error.name, error instanceof InvalidClient, isRetryable(error))
await refused.close()

const wrong = await rejection(connect({ variables: {} }))
console.log(wrong.name, wrong instanceof ConfigError)

const test = await connectTest(() => new Response("of a test"))
console.log(await (await test.furnishment("/furnishment/submissions")).text())
await test.close()
