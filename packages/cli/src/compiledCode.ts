import { lstatSync, mkdirSync, statSync } from "node:fs"
import * as nodeModule from "node:module"
import path from "node:path"
import { cacheHome } from "./cacheHome.ts"

const accessOfOthers = 0o077
const writableByOthers = 0o022
const sticky = 0o1000

const makeFolder = (folder: string): string => {
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch {
    // it exists, or its use fails
  }
  return folder
}

/** Is this a folder of this user that no other user can enter? */
const isPrivate = (folder: string): boolean => {
  const { mode, uid } = lstatSync(makeFolder(folder))
  return uid === process.getuid?.() && (mode & accessOfOthers) === 0
}

/** Can others replace a folder in this folder with their own? */
const isOpen = (folder: string): boolean => {
  const { mode } = statSync(makeFolder(folder))
  return (mode & writableByOthers) !== 0 && (mode & sticky) === 0
}

/**
 * Keeps the compiled code of this program for its next start, in Node 22 or later. Only in a private folder: in a shared one, which is
 * Node's default, others could plant code. Without a private folder, nothing is kept.
 */
export const keepCompiledCode = (): void => {
  // Node 20 does not have it, and the types are Node 20's
  const enable: unknown = Reflect.get(nodeModule, "enableCompileCache")
  if (typeof enable !== "function") return
  try {
    const home = cacheHome()
    const own = path.join(home, "credit-data")
    const compiled = path.join(own, "compiled")
    if (!isOpen(home) && isPrivate(own) && isPrivate(compiled)) enable(compiled)
  } catch {
    // the program only starts more slowly
  }
}
