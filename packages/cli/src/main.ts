#!/usr/bin/env node
import { cachedToken } from "./cachedToken.ts"
import { parse } from "./commandLine/parse.ts"
import { exitCode } from "./exitCode.ts"
import { hiddenNote, isHidden, tokenText } from "./tokenText.ts"
import { readVariables } from "./variables.ts"

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
  process.stderr.write(`${message}\n`)
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
    const problem = readVariables(request.run.options)
    if (problem !== undefined) {
      fail(problem)
      break
    }
    const { run } = request
    const token = run.name === "token" ? cachedToken(run.options) : undefined
    if (run.name === "token" && token !== undefined) {
      process.stdout.write(`${tokenText(token, run.options)}\n`)
      if (isHidden(run.options)) process.stderr.write(`${hiddenNote}\n`)
      break
    }
    // loaded after what needs none of it
    const program = await import("./program.ts")
    program.run(run)
  }
}
