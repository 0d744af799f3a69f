#!/usr/bin/env node
import { parse } from "./commandLine/parse.ts"
import { exitCode } from "./exitCode.ts"
import { visible } from "./text.ts"

/** A reader that ends early, such as `head`, is no failure, so the command continues and keeps its exit code. */
const isClosed = ({ code }: NodeJS.ErrnoException) => code === "EPIPE" || code === "ERR_STREAM_DESTROYED"

process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (isClosed(error)) return
  process.stderr.write(`The output cannot be written: ${error.code ?? error.name}.\n`)
  process.exit(exitCode.output)
})
// without a place for messages, the exit code is all that is left
process.stderr.on("error", () => {})

const fail = (message: string): void => {
  // it can quote an argument, a path or a file
  process.stderr.write(`${visible(message)}\n`)
  process.exitCode = exitCode.usage
}

const request = parse(process.argv.slice(2))
switch (request._tag) {
  case "Text":
    process.stdout.write(request.text)
    break
  case "Wrong":
    fail(request.message)
    break
  case "Run": {
    // loaded after what needs none of it
    const { start } = await import("./start.ts")
    const problem = await start(request.run)
    if (problem !== undefined) fail(problem)
  }
}
