// Writes the dashboard.

import { writeFileSync } from "node:fs"
import { dashboard, text } from "./dashboard.ts"
import { files } from "./files.ts"

writeFileSync(files.dashboard, text(dashboard()))
