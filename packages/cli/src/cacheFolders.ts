import { homedir } from "node:os"
import path from "node:path"

/**
 * The folder of the cached tokens. Relative paths in `XDG_CACHE_HOME` are invalid and must be ignored (XDG Base Directory). Throws if the
 * user has no home folder.
 */
export const tokenFolder = (): string => {
  const configured = process.env["XDG_CACHE_HOME"] ?? ""
  const caches = path.isAbsolute(configured) ? configured : path.join(homedir(), ".cache")
  return path.join(caches, "credit-data", "tokens")
}
