import { spawn } from "node:child_process"
import { codeOf } from "./text.ts"

/** Long enough for a person to approve it in a password manager. */
const timeLimit = 30_000

/** More than any secret has. */
const mostPrinted = 64 * 1024

/** Where the command comes from, and which standard input it gets. */
interface Origin {
  /** What messages call the command. */
  readonly subject: string
  readonly stdin: "inherit" | "ignore"
}

/** What went wrong with a secret command. Never contains what the command printed. */
const failureOf = (subject: string, reason: string): string =>
  `${subject} ${reason}. Run it on its own to see its output.`

/**
 * Runs a command in the shell of this system, `sh` or `cmd.exe`, and returns what it prints on standard output, or what went wrong. Its standard
 * error is passed on through a pipe, because a process that the command leaves behind would keep this one's open. Such a process is not waited for.
 */
export const secretOf = (
  command: string,
  { stdin, subject }: Origin
): Promise<{ readonly secret: string } | { readonly problem: string }> =>
  new Promise((resolve) => {
    const child = spawn(command, { shell: true, stdio: [stdin, "pipe", "pipe"] })
    const end = (reason: string | undefined): void => {
      clearTimeout(timer)
      child.kill()
      child.unref()
      child.stdout.destroy()
      child.stderr.destroy()
      resolve(reason === undefined ? { secret: printed } : { problem: failureOf(subject, reason) })
    }
    const timer = setTimeout(() => end(`did not finish within ${timeLimit / 1_000} seconds`), timeLimit)
    let printed = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      printed += text
      if (printed.length > mostPrinted) end(`printed more than ${mostPrinted / 1_024} KiB`)
    })
    child.stderr.pipe(process.stderr, { end: false })
    child.on("error", (error) => end(`could not be run (${codeOf(error)})`))
    child.on("exit", (status, signal) =>
      // once more to read what it printed last; the end of its output would wait for what it leaves in the background
      setImmediate(() =>
        setImmediate(() =>
          end(
            signal !== null
              ? `was ended by ${signal}`
              : status !== 0
              ? `exited with ${status}`
              : printed.trim() === ""
              ? "printed nothing"
              : undefined
          )
        )
      ))
  })
