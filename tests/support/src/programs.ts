import { accessSync, constants } from "node:fs"
import { delimiter, join } from "node:path"

/** The programs that tests need and npm cannot install. */
type Program = "prometheus" | "promtool" | "redis-server"

const isExecutable = (file: string) => {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Whether a program is on the PATH. */
export const has = (program: Program): boolean =>
  (process.env["PATH"] ?? "").split(delimiter).some((folder) => isExecutable(join(folder, program)))

/** The Debian packages to install, or tests are skipped. */
export const missingPackages = (): ReadonlyArray<string> => {
  const packages = []
  if (!has("prometheus") || !has("promtool")) packages.push("prometheus")
  if (!has("redis-server")) packages.push("redis-server")
  return packages
}
