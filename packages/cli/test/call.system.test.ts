import { Simulator } from "@credit-data/simulator"
import { HttpServerResponse } from "@effect/platform"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { escape, test, together } from "./support/command.ts"
import { onTerminal, run, temporaryFolder } from "./support/program.ts"

/** From now on, all calls get these bytes. */
const respond = (body: string | Uint8Array, contentType: string) =>
  Effect.flatMap(Simulator.Simulator, ({ handleCalls }) =>
    handleCalls(() =>
      Effect.succeed(
        HttpServerResponse.uint8Array(typeof body === "string" ? new TextEncoder().encode(body) : body, { contentType })
      )
    ))

const plain = { variables: { NO_COLOR: "1" } }

// sets the title of the window, writes to the clipboard, clears the screen, and turns the text around
const attack = `a${escape}]0;title\u0007b${escape}]52;c;Y2FuYXJ5\u0007c${escape}[2Jd\u009b2Je\u202ef\rg\u007fh`

const shownAttack = "a\\u001b]0;title\\u0007b\\u001b]52;c;Y2FuYXJ5\\u0007c\\u001b[2Jd\\u009b2Je\\u202ef\\u000dg\\u007fh"

describe("credit-data call on a terminal", () => {
  test(
    "shows the characters of a response that would steer the terminal, and writes its bytes to a pipe",
    Effect.gen(function*() {
      yield* respond(`${attack}\r\nnext line\tafter a tab\n`, "text/plain")
      const [terminal, pipe] = yield* together(
        onTerminal(["call", "/data-access/a"], plain),
        run(["call", "/data-access/a"])
      )
      assert.strictEqual(
        terminal.stdout.replaceAll("\r\n", "\n"),
        `status 200\n${shownAttack}\nnext line\tafter a tab\n`
      )
      assert.strictEqual(pipe.stdout, `${attack}\r\nnext line\tafter a tab\n`)
    })
  )

  test(
    "refuses to write a binary body to a terminal, and writes it to a file or a pipe",
    Effect.gen(function*() {
      const bytes = Uint8Array.from([0x25, 0x50, 0x44, 0x46, 0, 0xff, 0xfe])
      yield* respond(bytes, "application/pdf")
      const folder = yield* temporaryFolder
      const file = join(folder, "statement.pdf")
      const nowhere = join(folder, "missing", "statement.pdf")
      const [refused, saved, unwritable] = yield* together(
        onTerminal(["call", "/data-access/a"], plain),
        onTerminal(["call", "--output", file, "/data-access/a"], plain),
        run(["call", "-o", nowhere, "/data-access/never-sent"])
      )
      assert.strictEqual(refused.code, 74)
      assert.include(refused.stdout, "The body is binary (application/pdf, 7 bytes)")
      assert.include(refused.stdout, "--output FILE")
      assert.deepStrictEqual([saved.code, saved.stdout], [0, "status 200\r\n"])
      assert.deepStrictEqual(new Uint8Array(readFileSync(file)), bytes)
      assert.strictEqual(statSync(file).mode & 0o77, 0)
      assert.deepStrictEqual([unwritable.code, unwritable.stdout], [2, ""])
      assert.include(unwritable.stderr, `Cannot write the file in --output: ${nowhere} (ENOENT)`)
      const { received } = yield* Simulator.Simulator
      assert.isFalse((yield* received).some(({ url }) => url === "/data-access/never-sent"))
    }).pipe(Effect.scoped)
  )

  test(
    "shows status and headers with -i",
    Effect.gen(function*() {
      yield* respond("text", "text/plain")
      const [terminal, pipe] = yield* together(
        onTerminal(["call", "-i", "/data-access/a"], plain),
        run(["call", "-i", "/data-access/a"])
      )
      for (const { stdout } of [terminal, pipe]) {
        assert.match(
          stdout,
          /^HTTP\/1\.1 200 OK\r?\n(?:[a-z-]+: .*\r?\n)*content-type: text\/plain\r?\n(?:[a-z-]+: .*\r?\n)*\r?\ntext/
        )
      }
    })
  )
})
