import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import * as TokenError from "../../packages/core/src/TokenError.ts"
import * as InsufficientScope from "../../packages/http-client/src/InsufficientScope.ts"
import { exitCode } from "../../packages/cli/src/exitCode.ts"
import { type Counts, examplesIn, rewriteExamples } from "../../effect-4/src/rewrite.ts"

const root = fileURLToPath(new URL("../../", import.meta.url))
const read = (path: string) => readFileSync(`${root}${path}`, "utf8")

const packages = readdirSync(`${root}packages`)
const guide = readdirSync(`${root}docs`).filter((file) => file.endsWith(".md")).map((file) => `docs/${file}`)
const readmes = packages.map((name) => `packages/${name}/README.md`)
const pages = ["README.md", "SECURITY.md", ...guide, ...readmes]

/** The rows of the tables in a text, with trimmed cells. */
const rows = (text: string): ReadonlyArray<ReadonlyArray<string>> =>
  [...text.matchAll(/^\|(.*)\|$/gm)].map(([, row = ""]) => row.split("|").map((cell) => cell.trim()))

const section = (page: string, heading: string): string =>
  read(page).split(`\n${heading}\n`)[1]?.split(/\n##+ /)[0] ?? ""

describe("the first page", () => {
  it("has at most 100 lines, and the program before anything else", () => {
    const lines = read("README.md").trimEnd().split("\n")
    assert.isAtMost(lines.length, 100)
    assert.isAtMost(lines.indexOf("```ts"), 10)
  })

  it("lists each package once, as stable or as one that may still change, as the policy does", () => {
    const [, stable = "", unstable = ""] =
      /\*\*Stable from 1\.0:\*\*([\s\S]*?)\*\*May still[^:]*:\*\*([\s\S]*?)\n\n/.exec(
        read("README.md")
      ) ?? []
    const named = (text: string) => [...text.matchAll(/\]\(packages\/([\w-]+)\)/g)].map(([, name = ""]) => name)
    assert.sameMembers([...named(stable), ...named(unstable)], packages)
    const [, policy = "", others = ""] = /without exception for ([\s\S]*?)\. The others,([\s\S]*?), may/.exec(
      read("docs/policy.md")
    ) ?? []
    const quoted = (text: string) => [...text.matchAll(/`([\w-]+)`/g)].map(([, name = ""]) => name)
    assert.sameMembers(quoted(policy), named(stable))
    assert.sameMembers(quoted(others), named(unstable))
  })
})

describe("the variables", () => {
  const inCode = new Set(
    packages.flatMap((name) =>
      readdirSync(`${root}packages/${name}/src`, { recursive: true, encoding: "utf8" })
        .filter((file) => file.endsWith(".ts"))
        // an example in a docstring may have another variable
        .flatMap((file) => read(`packages/${name}/src/${file}`).replaceAll(/^ *\*.*$/gm, ""))
        .flatMap((code) => code.match(/\bCREDIT_DATA_[A-Z0-9_]+\b/g) ?? [])
    )
  )
  // the command sets it for the programs that it starts
  const output = "CREDIT_DATA_ACCESS_TOKEN"

  it("are all in one table", () => {
    const table = rows(section("packages/auth-v2/README.md", "## Environment variables"))
      .flatMap(([cell = ""]) => /^`(CREDIT_DATA_\w+)`$/.exec(cell)?.[1] ?? [])
    assert.isAbove(table.length, 8)
    assert.sameMembers([...table, output], [...inCode])
  })

  it("that pages name exist", () => {
    for (const page of pages) {
      for (const [name] of read(page).matchAll(/(?<![A-Z_])CREDIT_DATA_[A-Z0-9_]*[A-Z0-9]\b/g)) {
        assert.isTrue(inCode.has(name), `${page}: ${name}`)
      }
    }
  })
})

it("the exit codes of the command are all in its README", () => {
  const codes = rows(read("packages/cli/README.md")).flatMap(([cell = ""]) => /^\d+$/.test(cell) ? [Number(cell)] : [])
  assert.sameMembers(codes, Object.values(exitCode))
})

describe("the page for engineers on call", () => {
  const page = "docs/operations.md"

  it("lists each alert with its severity", () => {
    const rules = read("packages/telemetry/alerts/credit-data.rules.yml")
    const inRules = [...rules.matchAll(/- alert: (\w+)[^]*?severity: (\w+)/g)].map((
      [, alert, severity]
    ) => [alert, severity])
    const inPage = rows(section(page, "## Alerts")).flatMap(([alert = "", severity]) => {
      const name = /^\[`(\w+)`\]/.exec(alert)?.[1]
      return name === undefined ? [] : [[name, severity]]
    })
    assert.isAbove(inRules.length, 5)
    assert.deepStrictEqual(inPage, inRules)
  })

  it("lists the fields of each failure", () => {
    const table = rows(section(page, "### Fields").replaceAll("\\|", "or"))
    const fieldsOf = (failure: string, isTokenError: boolean) =>
      table.flatMap(([fields = "", , owners = ""]) => {
        const isIn = owners === "all five" || owners.includes(`\`${failure}\``) && !owners.includes("except") ||
          isTokenError && owners.startsWith("the four") && !owners.endsWith(`except \`${failure}\``)
        return isIn ? [...fields.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name) : []
      })
    const own = (fields: object) => Object.keys(fields).filter((name) => name !== "_tag")
    for (const failure of TokenError.TokenError.members) {
      assert.sameMembers(fieldsOf(failure._tag, true), [...own(failure.fields), "message", "retryable"], failure._tag)
    }
    assert.sameMembers(
      fieldsOf("InsufficientScope", false),
      [...own(InsufficientScope.InsufficientScope.fields), "message"]
    )
  })
})

it("examples call paths of the endpoint groups", () => {
  for (const page of pages) {
    for (const code of examplesIn(read(page))) {
      for (const [, path = ""] of code.matchAll(/\b(?:get|post|put|del|head)\(["'`](\/[^"'`]*)/g)) {
        assert.match(path, /^\/(data-access|furnishment|enablement-services|metrics|health)\b/, page)
      }
    }
  }
})

it("pages with install lines lead to the page that describes whether the packages are published", () => {
  for (const page of pages.filter((name) => name !== "README.md")) {
    const text = read(page)
    if (!/^npm i .*@credit-data\//m.test(text)) continue
    assert.match(text, /\]\((\.\.\/)+README\.md#install\)/, page)
  }
})

describe("figures from the benchmarks", () => {
  const table = rows(read("benchmarks/results/peers.md"))
  const [header = []] = table
  const rowOf = (scenario: string): ReadonlyArray<string> => {
    const row = table.find(([name]) => name === scenario)
    assert(row !== undefined, scenario)
    return row
  }
  /** What a scenario measured, by library. */
  const measured = (scenario: string): Readonly<Record<string, number>> => {
    const row = rowOf(scenario)
    return Object.fromEntries(header.flatMap((name, index) => {
      const value = Number(row[index])
      return index === 0 || Number.isNaN(value) || row[index] === "" ? [] : [[name, value]]
    }))
  }
  /** The ratio to Effect alone, on Effect 3 and on Effect 4. */
  const ratios = (scenario: string) =>
    rowOf(scenario).slice(1, 3).map((cell) => /([\d.]+) × Effect alone/.exec(cell)?.[1] ?? "?")
  const lines = ["@credit-data", "@credit-data, Effect 4"] as const
  const [ours] = lines
  const cached = "cachedInvalidateWithTTL"
  const requests = measured("an endpoint that fails for 3 s, 200 calls per second, token requests")
  const flat = (page: string) => read(page).replaceAll(/\s+/g, " ")
  const record = (name: string) => flat(`docs/decisions/${name}.md`)

  it("are those in the comparison with other libraries", () => {
    const cost = measured("a cached token, µs")
    const slow = measured("tokens of 2 s for 6 s, calls over 20 ms")
    const times = (name: string) => ((cost[name] ?? 0) / (cost[ours] ?? 1)).toFixed(1)
    const many = Object.values(requests).filter((count) => count > 100)
    const atExpiry = Object.entries(slow).filter(([name, calls]) => !name.startsWith(ours) && calls > 0)
    const range = (values: ReadonlyArray<number>) => `${Math.min(...values)} to ${Math.max(...values)}`
    assert.include(
      flat("README.md"),
      `received ${requests[ours]} token requests from these packages, and ${range(many)} from libraries without a pause`
    )
    assert.include(
      record("0001-own-supply"),
      `${times("Effect's Cache")} × as much with \`Cache\` and ${times(cached)} × as much with \`${cached}\``
    )
    assert.include(
      record("0001-own-supply"),
      `sends ${requests[ours]} token requests, \`Cache\` ${requests["Effect's Cache"]} and \`${cached}\` ${
        requests[cached]
      }`
    )
    assert.include(
      record("0002-renewal-when-a-caller-asks"),
      `each has ${range(atExpiry.map(([, calls]) => calls))} such calls`
    )
    assert.include(
      record("0003-failures-are-remembered"),
      `sends ${requests[ours]} token requests. Libraries without a pause send ${range(many)}`
    )
    const [ratio] = ratios("CPU of an authenticated call over fetch, 32 in flight")
    assert.include(record("0004-checks-in-the-last-step"), `costs ${ratio} × the CPU of Effect's client`)
  })

  const costs = [
    ["a cached token, as a Promise", "a cached token", "µs"],
    [
      "10 000 callers without a token, until the last of them has it",
      "10 000 cold callers, an endpoint that takes 50 ms",
      "ms"
    ],
    [
      "CPU of a call with its token over `fetch`, with 32 in flight",
      "CPU of an authenticated call over fetch, 32 in flight",
      "µs"
    ],
    ["the bundle of a program with one client, minified and in gzip", "bundle, minified and in gzip", "kB"],
    ["loading that bundle", "cold import of the bundle", "ms"]
  ] as const

  it("are on the page about costs", () => {
    const page = rows(read("docs/cost.md"))
    for (const [name, scenario, unit] of costs) {
      const row = rowOf(`${scenario}, ${unit}`)
      const cells = lines.map((line, index) =>
        `${row[header.indexOf(line)]} ${unit} (${ratios(scenario)[index]} × Effect alone)`
      )
      assert.deepStrictEqual(page.find(([first]) => first === name)?.slice(1), cells)
    }
    const text = flat("docs/cost.md")
    const [bundle3, bundle4] = ratios("the bundle, beside one that reads its credentials")
    assert.include(text, `the bundle is ${bundle3} × on Effect 3 and ${bundle4} × on Effect 4`)
    assert.include(text, `that failed for 3 seconds received ${requests[ours]} requests`)
    const curves = read("benchmarks/results/curves.md").split("## ")
    const ofThousand = (heading: string) =>
      rows(curves.find((part) => part.startsWith(heading)) ?? "").find(([size]) => size === "1 000")?.[2]
    assert.include(text, `A supply with its first token costs ${ofThousand("Supplies")} µs`)
    assert.include(text, `a client with its first call ${ofThousand("Clients")} µs`)
    const minutes = rows(read("benchmarks/results/sustained.md")).filter(([minute = ""]) => /^\d+$/.test(minute))
    const cpu = minutes.map((cells) => Number(cells[7]))
    assert.lengthOf(minutes, 15)
    assert.include(text, `uses ${Math.min(...cpu)} to ${Math.max(...cpu)} % of a core`)
    const files = minutes.map((cells) => Number(cells[9]))
    assert.include(flat("docs/network.md"), `then had up to ${Math.max(...files)} open files`)
  })
})

/** Facts that a page repeats from the code: the code, and the sentence that has to change with it. */
const repeated: ReadonlyArray<readonly [file: string, code: string, page: string, sentence: string]> = [
  [
    "packages/fleet/src/internal/protocol.ts",
    "leasePauseMillis = { from: 20, to: 200, atMost: 1_000 }",
    "docs/fleet.md",
    "a random 20 to 200 ms, plus four times the duration of their last check (at most 1 second)"
  ],
  ["packages/fleet/src/internal/storeAccess.ts", "budgetMillis = 600", "docs/fleet.md", "at most 0.6 seconds in total"],
  [
    "packages/fleet/src/internal/storeAccess.ts",
    "faultsToPause = 3\nconst pauseMillis = 10_000",
    "docs/fleet.md",
    "After three consecutive faults, the process does not use the store for 10 seconds"
  ],
  [
    "packages/store-redis/src/internal/connection.ts",
    "commandTimeout = 2_000\nconst connectTimeout = 2_000",
    "docs/fleet.md",
    "abandons a command or a connection after 2 seconds"
  ],
  ["packages/core/src/internal/sealing.ts", "shortestSecret = 32", "docs/fleet.md", "needs at least 32 characters"],
  ["packages/core/src/internal/sealing.ts", "shortestSecret = 32", "packages/cli/README.md", "at least 32 characters"],
  [
    "packages/core/src/internal/supply/pause.ts",
    "refusalPause = Duration.seconds(30)",
    "docs/concepts.md",
    "is remembered for 30 seconds"
  ],
  [
    "packages/core/src/internal/supply/tokenLife.ts",
    "longestPatience = 2_500",
    "docs/concepts.md",
    "for at most 2.5 seconds"
  ],
  [
    "packages/core/src/internal/supply/tokenLife.ts",
    "expiringMillis = 5_000",
    "docs/concepts.md",
    "Due --> Expiring: 5 s left"
  ],
  ["packages/core/src/internal/supply/recovery.ts", "retries = 2", "docs/concepts.md", "is retried up to twice"],
  [
    "packages/core/src/internal/tokenRequest/classify.ts",
    "longestLifetime = Duration.days(7)",
    "packages/core/README.md",
    "for longer than 7 days"
  ],
  [
    "packages/core/src/internal/tokenRequest/exchange.ts",
    "maxSize = 1024 * 1024",
    "packages/core/README.md",
    "at most 1 MiB after decompression"
  ],
  [
    "packages/http-client/src/internal/authenticatedClient.ts",
    "mostClosedConnections = 3",
    "docs/network.md",
    "up to three times"
  ],
  [
    "packages/http-client/src/internal/body.ts",
    "mostRead = 64 * 1024",
    "packages/http-client/README.md",
    "up to 64 KiB of the response for at most a second"
  ],
  [
    "packages/migration/src/internal/fallback.ts",
    "patience = Duration.seconds(2)",
    "docs/migration.md",
    "wait for V2 for up to 2 seconds"
  ],
  [
    "packages/migration/src/internal/fallback.ts",
    "rejectionMillis = 5 * 60_000",
    "docs/migration.md",
    "get V1 tokens for five minutes"
  ],
  [
    "packages/migration/src/Migration.ts",
    "planInterval ?? \"10 seconds\"",
    "docs/migration.md",
    "at most every 10 seconds"
  ],
  [
    "packages/core/src/internal/supply/pause.ts",
    "longestPause = Duration.seconds(60)",
    "docs/operations.md",
    "The pauses then grow to between 30 and 60 seconds"
  ],
  [
    "packages/fleet/src/SharedTokens.ts",
    "Duration.times(endpoint.deadline, 2)",
    "docs/operations.md",
    "within the deadline of 10 seconds, or 20 with a shared store"
  ],
  [
    "packages/core/src/internal/supply/tokenLife.ts",
    "shortestScopePause = 60_000\nconst longestScopePause = 60 * 60_000",
    "docs/operations.md",
    "after one minute, then at intervals of up to one hour"
  ],
  [
    "packages/store-redis/src/RedisTokenStore.ts",
    "prefix = \"credit-data:\"",
    "docs/fleet.md",
    "delete the keys that begin with `credit-data:`"
  ],
  ["packages/telemetry/src/HealthCheck.ts", "patience = \"800 millis\"", "docs/telemetry.md", "waits for up to 800 ms"]
]

it.each(repeated)("%s has %s, as %s repeats", (file, code, page, sentence) => {
  assert.include(read(file), code)
  assert.include(read(page).replaceAll(/\s+/g, " "), sentence)
})

describe("the table of names that are different on Effect 4", () => {
  const page = "docs/effect-4.md"
  const table = rows(section(page, "## What you rename")).flatMap(([left = "", right = ""]) => {
    const [from, to] = [left, right].map((cell) => /^`(.*)`$/.exec(cell)?.[1])
    return from === undefined || to === undefined ? [] : [{ from, to }]
  })
  const written = (code: string, counts: Counts = new Map()) =>
    (examplesIn(rewriteExamples(page, `\`\`\`ts\n${code}\n\`\`\``, counts))[0] ?? "").trim()
  const rename = (code: string, counts?: Counts) => {
    // a name of a type alone is not an expression of that type
    const type = written(`type X = ${code}`, counts).replace("type X = ", "")
    return type === code ? written(code, counts) : type
  }

  it.each(table)("states that $from is $to", ({ from, to }) => assert.strictEqual(rename(from), to))

  it("has all names that the examples use", () => {
    const inTable: Counts = new Map()
    for (const { from } of table) {
      written(from, inTable)
      written(`type X = ${from}`, inTable)
    }
    assert.isAbove(inTable.size, 30)
    for (const each of pages) {
      const used: Counts = new Map()
      rewriteExamples(each, read(each), used)
      for (const rule of used.keys()) assert.isTrue(inTable.has(rule), `${each}: ${rule}`)
    }
  })

  it("would be found to be wrong with a name of Effect 3 in its second column", () => {
    assert.notStrictEqual(rename("Effect.catchAll(handle)"), "Effect.catchAll(handle)")
  })
})
