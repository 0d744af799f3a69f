import type { Outcome } from "./create.ts"
import type { Kind } from "./parse.ts"
import { page, quoted } from "./text.ts"

const options: Record<Kind, string> = { "effect-3": " -- --effect 3", "effect-4": "", promise: " -- --promise" }

const names: Record<Kind, string> = { "effect-3": "for Effect 3", "effect-4": "for Effect 4", promise: "with Promises" }

/** The command of a user, who starts this program with npm. npm keeps options without `--` before them for itself. */
const command = (folder: string, kind: Kind = "effect-4"): string =>
  `npm create credit-data ${quoted(folder)}${options[kind]}`

const indented = (...lines: ReadonlyArray<string>): string => lines.map((line) => `  ${line}`).join("\n")

/** The help. */
export const help = (version: string, width: number): string =>
  page([
    `create-credit-data ${version}`,
    "Usage: npm create credit-data [FOLDER] [-- OPTIONS]",
    "Writes a service that calls the credit-data API into a new folder: one route and its test, health checks, JSON logs, a " +
    "Dockerfile, and a shutdown that loses no request. With Effect, it also has metrics and traces. It runs against a simulated " +
    "API, without an account. Asks nothing, and uses no network.",
    indented("FOLDER      a new or empty folder;", "            .git may be in it", "            Default: my-service"),
    indented(
      "--effect 3  for Effect 3",
      "            Default: 4, which needs",
      "            Node 22.19 or later",
      "--promise   without Effect",
      "--help      print this help",
      "--version   print the version"
    ),
    "Exit codes: 0 success, 1 failure, 2 wrong arguments."
  ], width)

/** What is wrong with the arguments. */
export const usage = (message: string, width: number): string =>
  page([`${message} For help:`, indented("npm create credit-data -- --help")], width)

/** What was created and comes next, or why nothing was created. */
export const report = (outcome: Outcome, folder: string, kind: Kind, width: number): string => {
  switch (outcome._tag) {
    case "Created":
      return page([
        `Created a service ${names[kind]} in ${folder === "." ? "this folder" : quoted(folder)}. Next:`,
        indented(...(folder === "." ? [] : [`cd ${quoted(folder)}`]), "npm install", "npm test", "npm start"),
        "It then responds at http://localhost:3000/consumers/42."
      ], width)
    case "NodeTooOld": {
      const needs = `The service ${
        names[kind]
      } needs Node ${outcome.needed} or later, and this is Node ${process.versions.node}.`
      return kind === "effect-4"
        ? page([
          `${needs} Nothing was created. Install a newer Node, or create the service for Effect 3:`,
          indented(command(folder, "effect-3"))
        ], width)
        : page([`${needs} Nothing was created. Install a newer Node.`], width)
    }
    case "NotEmpty":
      return page([
        `The folder ${quoted(folder)} is not empty. Nothing was created. Name a new folder:`,
        indented(command("another-service", kind))
      ], width)
    case "Failed":
      return page([
        `The folder ${
          quoted(folder)
        } cannot be written: ${outcome.code}. Check the path, its permissions and the free space. ` +
        "The next attempt needs an empty folder again."
      ], width)
  }
}
