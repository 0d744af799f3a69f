import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { program, start, temporaryFolder } from "./support/program.ts"

/** The completions of a shell in a file, beside something to complete. */
const prepared = Effect.fnUntraced(function*(shell: string) {
  const folder = yield* temporaryFolder
  const { stdout } = yield* start(process.execPath, [program, "completions", shell])
  const file = join(folder, `completions.${shell}`)
  writeFileSync(file, stdout)
  writeFileSync(join(folder, "fixture.json"), "{}")
  writeFileSync(join(folder, "credit-data-helper"), "#!/bin/sh\n", { mode: 0o755 })
  writeFileSync(join(folder, "credit-data"), `#!/bin/sh\nexec ${process.execPath} ${program} "$@"\n`, { mode: 0o755 })
  mkdirSync(join(folder, "config/credit-data"), { recursive: true })
  writeFileSync(
    join(folder, "config/credit-data/profiles.ini"),
    ["sandbox", "sand-box", "production"].map((name) => `[${name}]\nsecret-command=false\n`).join(""),
    { mode: 0o600 }
  )
  return { file, folder, variables: { TERM: "dumb", XDG_CONFIG_HOME: join(folder, "config") } }
})

/** What was typed before Tab, and the words of the completed line. */
const lines: ReadonlyArray<readonly [typed: string, completed: ReadonlyArray<string>]> = [
  ["tok\t", ["token"]],
  ["doctor --j\t", ["doctor", "--json"]],
  ["token --output h\t", ["token", "--output", "header"]],
  ["token --output=h\t", ["token", "--output=header"]],
  ["call --var\t", ["call", "--variables"]],
  ["call -o fix\t", ["call", "-o", "fixture.json"]],
  ["call -d @fix\t", ["call", "-d", "@fixture.json"]],
  ["call --data=@fix\t", ["call", "--data=@fixture.json"]],
  ["call --data @fix\t", ["call", "--data", "@fixture.json"]],
  ["token --profile pro\t", ["token", "--profile", "production"]],
  ["status --profile=sandb\t", ["status", "--profile=sandbox"]],
  ["profiles --na\t", ["profiles", "--names"]],
  ["completions zs\t", ["completions", "zsh"]],
  ["help stat\t", ["help", "status"]],
  ["token --secret-command credit-data-hel\t", ["token", "--secret-command", "credit-data-helper"]],
  ["exec -- credit-data-hel\t", ["exec", "--", "credit-data-helper"]],
  ["exec --cache -- credit-data-hel\t", ["exec", "--cache", "--", "credit-data-helper"]],
  ["exec credit-data-hel\t", ["exec", "credit-data-helper"]],
  ["exec -- cat fix\t", ["exec", "--", "cat", "fixture.json"]]
]

/** Lets a shell complete the lines on a terminal. A function of the shell prints the words that it was called with. */
const completed = Effect.fnUntraced(function*(shell: "bash" | "zsh", setup: (file: string) => string) {
  const { file, folder, variables } = yield* prepared(shell)
  const commands = [
    `cd ${folder}`,
    `PATH=${folder}:$PATH`,
    "credit-data() { printf '\\n<%s>' \"$@\"; echo '<end>'; }",
    setup(file),
    ...lines.map(([typed]) => `credit-data ${typed}`),
    "exit",
    ""
  ]
  const flags = shell === "bash" ? "--norc --noprofile -i" : "-f -i"
  const { stdout } = yield* start("script", ["-qec", `${shell} ${flags}`, "/dev/null"], {
    variables,
    input: commands.join("\n")
  })
  const called = stdout.replaceAll("\r", "").split("<end>").map((part) =>
    Array.from(part.matchAll(/^<(.*)>$/gm), ([, word = ""]) => word)
  )
  assert.deepStrictEqual(called.filter((words) => words.length > 0), lines.map(([, words]) => [...words]))
})

describe("the completions of credit-data", () => {
  it.scopedLive(
    "complete commands, options, values, profiles, files and programs in bash",
    () => completed("bash", (file) => `. ${file}`),
    60_000
  )

  it.scopedLive(
    "complete commands, options, values, profiles, files and programs in zsh",
    () => completed("zsh", (file) => `autoload -U compinit; compinit -D -u; . ${file}`),
    60_000
  )

  it.scopedLive(
    "are registered in zsh when compinit comes after the script",
    () => completed("zsh", (file) => `. ${file}; autoload -U compinit; compinit -D -u`),
    60_000
  )

  it.scopedLive("report in zsh that compinit is missing", () =>
    Effect.gen(function*() {
      const { file } = yield* prepared("zsh")
      const { stdout } = yield* start("script", ["-qec", "zsh -f -i", "/dev/null"], {
        variables: { TERM: "dumb" },
        input: `. ${file}\nexit\n`
      })
      assert.match(stdout, /^credit-data: completions need compinit\. Add this line to \.zshrc: autoload -Uz compinit/m)
      assert.notInclude(stdout, "not found")
    }), 60_000)

  it.scopedLive(
    "complete commands, options, values, profiles, files and programs in fish",
    () =>
      Effect.gen(function*() {
        const { file, folder, variables } = yield* prepared("fish")
        const script = join(folder, "script.fish")
        writeFileSync(
          script,
          [
            `cd ${folder}`,
            `source ${file}`,
            ...lines.map(([typed]) => `complete -C 'credit-data ${typed.trimEnd()}' | head -1 | cut -f1`)
          ].join("\n")
        )
        const { stderr, stdout } = yield* start("fish", ["--no-config", script], {
          variables: { ...variables, PATH: `${folder}:${process.env["PATH"]}` }
        })
        assert.strictEqual(stderr, "")
        assert.deepStrictEqual(stdout.trim().split("\n"), lines.map(([, words]) => words.at(-1)))
      }),
    60_000
  )

  it.scopedLive("leave nothing in the shell that could hide a program", () =>
    Effect.gen(function*() {
      const { file } = yield* prepared("bash")
      const { stdout } = yield* start("bash", ["--norc", "-c", `. ${file}; compgen -A function`])
      const names = stdout.trim().split("\n")
      assert.include(names, "_credit_data")
      for (const name of names) assert.match(name, /^_credit_data/)
    }))

  it.scopedLive("offer nothing that the help does not describe", () =>
    Effect.gen(function*() {
      for (const shell of ["bash", "zsh", "fish"]) {
        const { stdout } = yield* start(process.execPath, [program, "completions", shell])
        assert.notMatch(stdout, /wizard|log-level|--completions|client-secret/)
      }
    }))
})
