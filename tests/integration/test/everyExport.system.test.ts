import { describe, it } from "@effect/vitest"
import { nothingShows } from "../src/everyExport.ts"
import { transports } from "../src/transports.ts"

describe.each(transports)("every export of every package, over %s", (_, transport) => {
  it.scoped("shows no secret when it is printed", () => nothingShows(transport), 60_000)
})
