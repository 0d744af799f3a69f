import { homedir } from "node:os"
import path from "node:path"

/** The home folder. Throws without one: with an empty `HOME`, Node returns an empty path, and files would be in the working directory. */
const home = (): string => {
  const found = homedir()
  if (path.isAbsolute(found)) return found
  throw new Error("No home folder")
}

/** A folder of the user. Relative paths in these variables are invalid and must be ignored (XDG Base Directory). Throws without a home folder. */
const folder = (variable: string, otherwise: () => string): string => {
  const configured = process.env[variable] ?? ""
  return path.join(path.isAbsolute(configured) ? configured : otherwise(), "credit-data")
}

/** The folder of the cached tokens. Throws if the user has no home folder. */
export const tokenFolder = (): string =>
  path.join(folder("XDG_CACHE_HOME", () => path.join(home(), ".cache")), "tokens")

/** The file of the profiles. Throws if the user has no home folder. */
export const profilesFile = (): string => {
  const roaming = process.platform === "win32" ? process.env["APPDATA"] ?? "" : ""
  return path.join(
    folder("XDG_CONFIG_HOME", () => path.isAbsolute(roaming) ? roaming : path.join(home(), ".config")),
    "profiles.ini"
  )
}
