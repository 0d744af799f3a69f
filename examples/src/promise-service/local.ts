// The service with an imitation of the API in its process, so that it runs without an account. main.ts never uses it.

import { connectTest } from "@credit-data/promise"
import { log } from "./log.ts"
import { run } from "./run.ts"

const api = await connectTest(({ url }) => Response.json({ path: new URL(url).pathname }))
log("INFO", "The API is simulated. Try /consumers/42 and /health/ready.")
await run(api)
