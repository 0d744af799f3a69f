import { accessSync, constants } from "node:fs"
import { delimiter, join } from "node:path"

const isExecutable = (file: string) => {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The file of a program on the PATH. */
const find = (program: string): string | undefined =>
  (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, program)).find(isExecutable)

/** The programs that system tests need and npm cannot install, with the Debian package of each. */
const programs = {
  amtool: "prometheus-alertmanager",
  chromium: "chromium",
  curl: "curl",
  fish: "fish",
  go: "golang-go",
  haproxy: "haproxy",
  java: "default-jdk-headless",
  nginx: "nginx-light",
  prometheus: "prometheus",
  "prometheus-alertmanager": "prometheus-alertmanager",
  promtool: "prometheus",
  ps: "procps",
  python3: "python3",
  "redis-server": "redis-server",
  script: "bsdutils",
  zsh: "zsh"
} as const

/** The file of a browser on the PATH. */
export const browser = (): string | undefined => find("chromium") ?? find("google-chrome")

/** The missing programs, each with the Debian package that has it. */
export const missingPrograms = (): ReadonlyArray<string> =>
  Object.entries(programs)
    .filter(([program]) => (program === "chromium" ? browser() : find(program)) === undefined)
    .map(([program, debian]) => `${program} (Debian package ${debian})`)
