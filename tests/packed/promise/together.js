// A process in which one module imports the package and another one requires it.

import * as imported from "@credit-data/promise"
import { createRequire } from "node:module"

const required = createRequire(import.meta.url)("@credit-data/promise")
const names = Object.keys(imported)
console.log(names.includes("connect"), Object.entries(imported).every(([name, value]) => value === required[name]))
console.log(names.toString() === Object.keys(required).toSorted().toString())

const error = await required.connect({ variables: {} }).catch((error) => error)
console.log(error instanceof imported.ConfigError)
