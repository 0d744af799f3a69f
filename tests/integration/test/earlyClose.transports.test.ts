// What docs/network.md says about the transports that can end the process.

import { type Command, run, script } from "@credit-data/test-support/childProcess"
import { listenForSockets } from "@credit-data/test-support/listen"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"
import * as Platform from "../src/platform.ts"
import { transports } from "../src/transports.ts"

const assertion = "assert(!this.paused)"

/** How much of a body undici takes from a connection before it waits for its reader differs between the versions. */
const sizes = [17_000, 20_000, 66_000, 100_000]

/** Whether the command, to which an address is added, ends with the assertion for a body of one of these sizes. */
const isEnded = Effect.fnUntraced(function*(command: Command) {
  for (const size of sizes) {
    const port = yield* listenForSockets((socket) =>
      socket.once("data", () => socket.end(`HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${"x".repeat(size)}`))
    )
    const { exitCode, stderr } = yield* run([...command, `http://127.0.0.1:${port}`])
    assert.strictEqual(exitCode !== 0, stderr.includes(assertion), stderr)
    if (exitCode !== 0) return true
  }
  return false
})

const [major = 0] = process.versions.node.split(".").map(Number)

describe("a server that closes the connection before a large body without a length was read", () => {
  it.scopedLive.each(transports)(
    "ends a process with an unsafe version of undici, over %s",
    ([name]) =>
      Effect.gen(function*() {
        // the `fetch` of Node 22 and 24 is unsafe by itself, and that of 26 has a dispatcher of its own
        const isUnsafe = name === "fetch"
          ? major === 22 || major === 24 || major === 20 && Platform.unsafe.includes(name)
          : Platform.unsafe.includes(name)
        const file = fileURLToPath(new URL("./programs/earlyClose.ts", import.meta.url))
        assert.strictEqual(yield* isEnded(script(file, name)), isUnsafe)
      })
  )

  it.scopedLive("ends a process over the fetch of Node 22 and 24, and none over that of Node 20 and 26", () =>
    Effect.gen(function*() {
      const program = `const response = await fetch(process.argv[1])
        await new Promise((resume) => setTimeout(resume, 100))
        await response.text().catch(() => "")`
      const command: Command = [process.execPath, "--input-type=module", "-e", program]
      assert.strictEqual(yield* isEnded(command), major === 22 || major === 24)
    }))
})
