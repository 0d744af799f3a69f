// A service to start from: it calls Data Access, checks its health, logs JSON, and ends gracefully.
//
// CREDIT_DATA_AUTH   v1 or v2, the version of the token endpoint. Default: v2.
// CREDIT_DATA_…      the variables of that version, such as CREDIT_DATA_CLIENT_ID.
// SECRETS_FOLDER     a folder with CREDIT_DATA_CLIENT_ID and CREDIT_DATA_CLIENT_SECRET as files, as Kubernetes mounts them.
// PORT               the port of the service. Default: 3000.

import { connect } from "@credit-data/promise"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { log } from "./log.ts"
import { run } from "./run.ts"

const folder = process.env["SECRETS_FOLDER"]
const read = async (name: string) => (await readFile(join(folder ?? "", name), "utf8")).trim()

/** Is called again when the token endpoint has refused the client, so that a rotated secret is read. */
const credentials = async () => ({
  clientId: await read("CREDIT_DATA_CLIENT_ID"),
  clientSecret: await read("CREDIT_DATA_CLIENT_SECRET")
})

try {
  await run(await connect({ credentials: folder === undefined ? undefined : credentials }))
} catch (error) {
  log("FATAL", String(error))
  process.exitCode = 1
}
