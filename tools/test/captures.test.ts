import { Simulator } from "@credit-data/simulator"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { program, start } from "../../packages/cli/test/support/program.ts"

// `CAPTURE=write` writes the outputs into the page
const page = fileURLToPath(new URL("../../docs/command-line.md", import.meta.url))
const profiles = /```ini\n([^]*?)```/
const block = /```console\n\$ (.*)\n([^]*?)```/g

/** Prints as `jq` does with a path, because jq is not on every machine. */
const jq =
  `jq() { ${process.execPath} -p 'JSON.stringify(Function("it", "return it" + process.argv[1].replace(/^[.]$/, ""))(JSON.parse(require("node:fs").readFileSync(0, "utf8"))), null, 2)' "$1"; }`

/** A token lives for a day. */
const isExpiry = (millis: number) => millis > Date.now() + 12 * 3_600_000

/** What differs from run to run. The ports are those of the API, and of the token endpoints of V1 and V2. */
const fixed = (text: string, ports: ReadonlyArray<string>) =>
  text
    .replaceAll(/ *\d+ ms/g, (time) => "12 ms".padStart(time.length))
    .replaceAll(/(?<=after) +12 ms/g, " 12 ms")
    .replaceAll(/(?<=^< date: ).*$/gm, "Mon, 23 Nov 2026 12:00:00 GMT")
    .replaceAll(/(?<=^< content-length: )14\d$/gm, "143")
    .replaceAll(
      /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g,
      (instant) => isExpiry(Date.parse(instant)) ? "2026-11-24T11:59:59Z" : "2026-11-23T12:00:00Z"
    )
    .replaceAll(/\b1[789]\d{8}\b/g, (seconds) => isExpiry(Number(seconds) * 1_000) ? "1795521599" : "1795435200")
    // in a table, the spaces after it are part of its column
    .replaceAll(/127\.0\.0\.1:(\d+)(?: (?= +\S))*/g, (cell, port: string) =>
      `127.0.0.1:${7400 + ports.indexOf(port)}`.padEnd(cell.endsWith(" ") ? cell.length : 0))
    .replaceAll(/simulated\.(V\d)\.\d+\.\w+/g, "simulated.$1.1.0123456789")
    .replaceAll(/23h 59m \d+s/g, "23h 59m 59s")
    .replaceAll(/"millis": \d+/g, "\"millis\": 12")
    .replaceAll(/(?<=Seconds": )86\d{3}/g, "86399")

describe("the page about the command line", () => {
  it.live("shows what the commands print", () =>
    Effect.gen(function*() {
      const folder = mkdtempSync(join(tmpdir(), "credit-data-page-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(folder, { recursive: true, force: true })))
      const variables: Readonly<Record<string, string>> = {
        ...(yield* Simulator.variables),
        XDG_CACHE_HOME: folder,
        XDG_CONFIG_HOME: folder,
        LANG: "C.UTF-8"
      }
      const ports = ["BASE", "AUTH_V1", "AUTH_V2"].map((name) => {
        const url = variables[`CREDIT_DATA_${name}_URL`]
        return url === undefined ? "" : new URL(url).port
      })
      const text = readFileSync(page, "utf8")
      const [, ini = ""] = profiles.exec(text) ?? []
      const withPorts = ini.replaceAll(/(?<=127\.0\.0\.1:)740(\d)/g, (_, index: string) => ports[Number(index)] ?? "")
      mkdirSync(join(folder, "credit-data"))
      writeFileSync(join(folder, "credit-data/profiles.ini"), withPorts, { mode: 0o600 })
      const printed: Array<string> = []
      for (const [, command = ""] of text.matchAll(block)) {
        const line = `credit-data() { ${process.execPath} ${program} "$@"; }; ${jq}; ${command} 2>&1`
        const { stdout } = yield* start("bash", ["-c", line], { variables })
        printed.push(fixed(stdout, ports))
      }
      const next = text.replaceAll(block, (_, command: string) => {
        const output = printed.shift() ?? ""
        return `\`\`\`console\n$ ${command}\n${output}${output.endsWith("\n") ? "" : "\n"}\`\`\``
      })
      if (process.env["CAPTURE"] === "write") writeFileSync(page, next)
      assert.strictEqual(text, next)
    }).pipe(Effect.scoped, Effect.provide(Simulator.layer())), 120_000)
})
