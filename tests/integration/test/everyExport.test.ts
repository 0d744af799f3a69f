import { NodeHttpClient } from "@effect/platform-node"
import { it } from "@effect/vitest"
import { nothingShows } from "../src/everyExport.ts"

it.scoped(
  "every export of every package shows no secret when it is printed",
  () => nothingShows(NodeHttpClient.layer),
  60_000
)
