/** How often the loop is looked at, and by how much it must be late to be reported. */
const everyMillis = 50
const lateMillis = 200

/**
 * Reports each time in which the event loop of this process did not run: the process was stopped, or got no CPU. Returns an end of
 * the reports.
 */
export const watchLoop = (report: (delay: { readonly from: number; readonly until: number }) => void): () => void => {
  let last = Date.now()
  const timer = setInterval(() => {
    const now = Date.now()
    if (now - last > everyMillis + lateMillis) report({ from: last, until: now })
    last = now
  }, everyMillis)
  return () => clearInterval(timer)
}
