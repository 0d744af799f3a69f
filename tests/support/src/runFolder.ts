import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/**
 * Vitest's global setup: a folder for what the files of a run share, which the run removes. No worker could, because the pool kills its workers.
 * It is not `TMPDIR`, where tsx has its cache.
 */
export default (): () => void => {
  const folder = mkdtempSync(join(tmpdir(), "credit-data-run-"))
  process.env["TEST_RUN_FOLDER"] = folder
  return () => rmSync(folder, { recursive: true, force: true })
}
