import { homedir } from "node:os"
import path from "node:path"

/**
 * The folder for caches. Relative paths in `XDG_CACHE_HOME` are invalid and must be ignored (XDG Base Directory). Throws if the user has no
 * home folder.
 */
export const cacheHome = (): string => {
  const configured = process.env["XDG_CACHE_HOME"] ?? ""
  return path.isAbsolute(configured) ? configured : path.join(homedir(), ".cache")
}
