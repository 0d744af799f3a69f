// Writes the plots of the simulation.

import { writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { pictures } from "../../tests/fleet/src/simulation/pictures.ts"

for (const [name, picture] of Object.entries(pictures)) {
  writeFileSync(fileURLToPath(new URL(`../../docs/${name}`, import.meta.url)), picture())
}
