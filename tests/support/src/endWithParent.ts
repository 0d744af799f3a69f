/**
 * A worker of a test run that was killed would otherwise run for ever, and take the machine from the next runs. Not `process.exit`: Vitest
 * replaces it by a function that throws.
 */
const endWithParent = (): boolean => process.kill(process.pid, "SIGKILL")

// a setup file runs for each file with tests, and one process may run many
if (!process.listeners("disconnect").some(({ name }) => name === endWithParent.name)) {
  process.once("disconnect", endWithParent)
}
