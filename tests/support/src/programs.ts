import { accessSync, constants } from "node:fs"
import { delimiter, join } from "node:path"

/** The programs that tests need and npm cannot install. */
type Program = "chromium" | "google-chrome" | "prometheus" | "promtool" | "python3" | "redis-server"

const isExecutable = (file: string) => {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The file of a program on the PATH. */
const find = (program: Program): string | undefined =>
  (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, program)).find(isExecutable)

/** Whether a program is on the PATH. */
export const has = (program: Program): boolean => find(program) !== undefined

/** The file of a browser on the PATH. */
export const browser = (): string | undefined => find("chromium") ?? find("google-chrome")

/** The Debian packages to install, or tests are skipped. */
export const missingPackages = (): ReadonlyArray<string> => {
  const packages = []
  if (browser() === undefined) packages.push("chromium")
  if (!has("prometheus") || !has("promtool")) packages.push("prometheus")
  if (!has("python3")) packages.push("python3")
  if (!has("redis-server")) packages.push("redis-server")
  return packages
}
