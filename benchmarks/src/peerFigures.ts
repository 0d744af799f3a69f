// What the libraries take, measured in their own process, because code that ran before would change the figures. Its argument is the
// address of the token server. Its message is the results.

import { measure } from "./peers/scenarios.ts"

// a renewal of undici-oidc-interceptor that fails in the background would end the process
process.on("unhandledRejection", () => {})

const [url = ""] = process.argv.slice(2)

process.send?.(await measure(url))
