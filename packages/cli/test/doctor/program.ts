// Examines what the variables of this process describe, as the command does, and prints the steps as JSON.
import { Effect, Option } from "effect"
import { Client, examined } from "./examined.ts"

const [probe] = process.argv.slice(2)
const steps = await Effect.runPromise(
  Effect.provide(examined({ version: "v2", probe: Option.fromNullable(probe) }), Client)
)
process.stdout.write(JSON.stringify(steps))
