// Runs the program in this thread, one run after the other. Only its first module is loaded anew, so Effect is loaded once.

import { parentPort, workerData } from "node:worker_threads"

const globals = "effect/GlobalValue"

/** What is written to an output, which has forgotten the run before. */
const captured = (output) => {
  output.removeAllListeners("error")
  const chunks = []
  output.write = (chunk, ...others) => {
    chunks.push(Buffer.from(chunk))
    others.find((each) => typeof each === "function")?.()
    return true
  }
  return () => Buffer.concat(chunks).toString()
}

let runs = 0

parentPort.on("message", async ({ args, variables }) => {
  process.argv = [process.execPath, workerData, ...args]
  process.env = variables
  process.exitCode = undefined
  const [stdout, stderr] = [captured(process.stdout), captured(process.stderr)]
  const code = await new Promise((resolve, reject) => {
    process.exit = resolve
    import(`${workerData}?run=${runs++}`).then(() => resolve(process.exitCode ?? 0), reject)
  })
  // as in a process that has built no supply yet
  globalThis[globals]?.get("@credit-data/core/builtSupplies")?.clear()
  parentPort.postMessage({ code, stdout: stdout(), stderr: stderr() })
})
