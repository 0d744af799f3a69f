// The other half of watchdog.ts: a process of its own, because a test run can be busy for ever, in a test or while it prints a failure.

import { writeSync } from "node:fs"

const limitMillis = Number(process.argv[2])

/** What must go on within its limit: each test, and the run as a whole. */
const deadlines = new Map()
let run
let workers = []
let failed = []

const end = (pids) => {
  for (const pid of pids) {
    try {
      process.kill(pid, "SIGKILL")
    } catch {
      // it has ended
    }
  }
  process.exit()
}

const expectProgress = (key, name, millis) => {
  clearTimeout(deadlines.get(key))
  deadlines.set(
    key,
    setTimeout(() => {
      const before = failed.length === 0 ? "" : `. Failed before: ${failed.join(", ")}`
      writeSync(2, `\nNothing has happened for ${millis / 1_000} s in ${name}${before}\n`)
      end([run, ...workers])
    }, millis)
  )
}

process.on("message", ({ failure, key, limit, name, running, ...pids }) => {
  run = pids.run
  workers = pids.workers
  if (failure !== undefined) failed = [...failed, failure]
  expectProgress("run", running.length === 0 ? "the run, and no file is running" : running.join(" or "), limitMillis)
  if (key === undefined) return
  if (name === undefined) {
    clearTimeout(deadlines.get(key))
    deadlines.delete(key)
  } else expectProgress(key, name, limit)
})

// the run has ended, or was killed and left workers
process.on("disconnect", () => end(workers))
