// The vitest of the Effect 3 workspace, with what `@effect/vitest` for Effect 4 uses of a later one.

import { getCurrentSuite } from "../../node_modules/vitest/dist/suite.js"

export * from "../../node_modules/vitest/dist/index.js"
export const TestRunner = { getCurrentSuite }
