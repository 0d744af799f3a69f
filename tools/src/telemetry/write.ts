// Writes the dashboard and the picture of a recorded run.

import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { dashboard, text } from "./dashboard.ts"
import { files } from "./files.ts"
import { draw } from "./picture.ts"
import { record } from "./recordedRun.ts"

writeFileSync(files.dashboard, text(dashboard()))
writeFileSync(files.picture, draw(await Effect.runPromise(record)))
