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
  it("shows the program before anything else", () => {
    assert.isAtMost(read("README.md").split("\n").indexOf("```ts"), 10)
  })

  it("says which packages have dependencies beside Effect", () => {
    const evidence = section("README.md", "## Evidence").replaceAll(/\s+/g, " ")
    const needs = packages.filter((name) => {
      const { dependencies = {}, peerDependencies = {} } = JSON.parse(read(`packages/${name}/package.json`))
      return Object.keys({ ...dependencies, ...peerDependencies }).some((dependency) =>
        dependency !== "effect" && !/^@(effect|credit-data)\//.test(dependency)
      )
    })
    assert.deepStrictEqual(needs, ["simulator", "store-redis"])
    assert.include(evidence, "Only simulator (`yaml`) and store-redis (`ioredis`) need a package that is not Effect's.")
  })

  it("lists each package once, those first that are stable by the policy", () => {
    const named = [...section("README.md", "## The packages").matchAll(/\]\(packages\/([\w-]+)\)/g)]
      .map(([, name = ""]) => name)
    const [, policy = "", others = ""] = /without exception for ([\s\S]*?)\. The\s+others,([\s\S]*?), may/.exec(
      read("docs/versions.md")
    ) ?? []
    const quoted = (text: string) => [...text.matchAll(/`([\w-]+)`/g)].map(([, name = ""]) => name)
    assert.sameMembers(named, packages)
    assert.sameMembers(quoted(policy), named.slice(0, 5))
    assert.sameMembers(quoted(others), named.slice(5))
  })

  it("has the status of the release, its versions of Effect and of Node, and the contact for security", () => {
    const status = section("README.md", "## Status")
    const links = ["SECURITY.md#report-a-vulnerability", "docs/versions.md#support"]
    for (const fact of ["not on npm yet", "20.19", "22.19", ...links]) assert.include(status, fact)
  })
})

describe("the variables", () => {
  const inCode = new Set(
    packages.flatMap((name) =>
      readdirSync(`${root}packages/${name}/src`, { recursive: true, encoding: "utf8" })
        .filter((file) => file.endsWith(".ts"))
        // an example in a docstring may have another variable
        .flatMap((file) => read(`packages/${name}/src/${file}`).replaceAll(/^ *\*.*$/gm, ""))
        .flatMap((code) => code.match(/\bCREDIT_DATA_[A-Z0-9_]*[A-Z0-9]\b/g) ?? [])
    )
  )
  // the command sets it for the programs that it starts
  const output = "CREDIT_DATA_ACCESS_TOKEN"

  it("are all in one table", () => {
    const table = rows(section("docs/configuration.md", "## Variables"))
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

describe("the page about the configuration", () => {
  /** A module, the declaration of its options, and what the page calls its layer. */
  const ofAdapters = "## Options of `AuthV1` and `AuthV2`"
  const ofOthers = "## Options of the other layers"
  const declared: ReadonlyArray<readonly [file: string, start: string, heading: string, layer: string]> = [
    ["core/src/TokenEndpoint.ts", "export interface Settings", ofAdapters, ""],
    ["core/src/AccessTokens.ts", "export interface Settings", ofAdapters, ""],
    ["http-client/src/GroupClient.ts", "export interface Settings", ofOthers, "`DataAccess.layer`"],
    ["http-client/src/GroupClient.ts", "export interface Options", ofOthers, "`GroupClient.make`"],
    ["store-redis/src/RedisTokenStore.ts", "export interface Options", ofOthers, "`RedisTokenStore.layer`"],
    ["migration/src/Migration.ts", "export interface Options", ofOthers, "`Migration.layer`"],
    ["telemetry/src/Telemetry.ts", "export interface Settings", ofOthers, "`Telemetry.layer`"],
    ["core/src/AccessTokens.ts", "export const layerTest = (options: {", ofOthers, "`AccessTokens.layerTest`"],
    ["simulator/src/Simulator.ts", "export interface Settings", ofOthers, "`Simulator.layer`"]
  ]
  const optionsOf = (file: string, start: string) => {
    const body = read(`packages/${file}`).split(start)[1]?.split("\n}")[0] ?? ""
    return [...body.matchAll(/(?:\/\*\*([^]*?)\*\/\s*)?readonly (\w+)(\??):/g)]
      // a member of a type inside an option has no comment and stands on the option's line
      .filter(([found]) => found.startsWith("/**") || body.includes(`\n  ${found}`))
      .map(([, comment = "", name = "", optional]) => ({
        name,
        isRequired: optional === "",
        byDefault: /Default: ([^]*?)\.(?:\s|$)/.exec(comment.replaceAll(/\s+\*\s/g, " "))?.[1]?.split(",")[0]?.trim()
      }))
  }
  const tableOf = (heading: string, layer: string) => {
    const table = rows(section("docs/configuration.md", heading))
    if (layer === "") return table
    const from = table.findIndex(([cell = ""]) => cell.startsWith(layer))
    const after = table.findIndex(([cell], index) => index > from && cell !== "")
    return table.slice(from, after < 0 ? undefined : after).map((row) => row.slice(1))
  }

  it.each(declared)("has each option of %s, %s, with its default", (file, start, heading, layer) => {
    const options = optionsOf(file, start)
    assert.isNotEmpty(options)
    const table = tableOf(heading, layer)
    for (const { byDefault, isRequired, name } of options) {
      const row = table.find(([names = ""]) => names.includes(`\`${name}\``))
      assert(row !== undefined, name)
      if (isRequired) assert.strictEqual(row[1], "required", name)
      else if (byDefault !== undefined) assert.strictEqual(row[1], byDefault, name)
    }
  })

  it("has no option that the sources lack", () => {
    for (const [file, start, heading, layer] of declared.filter(([, , heading]) => heading === ofOthers)) {
      const names = optionsOf(file, start).map(({ name }) => `\`${name}\``)
      const inPage = tableOf(heading, layer).flatMap(([cell = ""]) => cell.split(", "))
      assert.sameMembers(inPage, names, layer)
    }
  })
})

it("the recipes list all example programs", () => {
  const files = readdirSync(`${root}examples/src`).map((name) => name === "service" ? "service/main.ts" : name)
  const listed = [...read("docs/recipes.md").matchAll(/\]\(\.\.\/examples\/src\/([\w/-]+\.ts)\) +\|$/gm)]
    .map(([, file = ""]) => file)
  assert.sameMembers(listed, files)
})

it("every page of the guide is in its index", () => {
  for (const page of guide.filter((name) => name !== "docs/README.md")) {
    assert.include(read("docs/README.md"), `](${page.replace("docs/", "")})`)
  }
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
    const table = rows(section("docs/failures.md", "## Fields").replaceAll("\\|", "or"))
    const fieldsOf = (failure: string, isTokenError: boolean) =>
      table.flatMap(([fields = "", , owners = ""]) => {
        const isIn = owners.includes(`\`${failure}\``) && !owners.includes("except") ||
          isTokenError && owners.startsWith("token errors") && !owners.endsWith(`except \`${failure}\``)
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

  it("explains each reason of a TransportError and each rule of an InvalidResponse", () => {
    const page = section("docs/failures.md", "## Reasons and rules")
    const explained = rows(page).flatMap(([names = ""]) => [...names.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name))
    assert.sameMembers(explained, [...TokenError.TransportReason.literals, ...TokenError.ResponseRule.literals])
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
  const [summary = "", measurements = ""] = read("benchmarks/results/peers.md").split("## The measurements")
  const table = rows(measurements)
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
  const calls =
    "CPU of an authenticated call, 32 in flight: over Effect's HttpClient for @credit-data, over bare fetch for the others"
  const bundle = "bundle, minified and gzipped"
  const requests = measured("the first 3 s of an outage, 200 calls per second, token requests")
  const flat = (page: string) => read(page).replaceAll(/\s+/g, " ")
  const record = (name: string) => flat(`docs/decisions/${name}.md`)

  it("are those in the comparison with other libraries", () => {
    const cost = measured("a cached token, µs")
    const slow = measured("2 s tokens for 6 s: calls over 20 ms")
    const times = (name: string) => ((cost[name] ?? 0) / (cost[ours] ?? 1)).toFixed(1)
    const range = (values: ReadonlyArray<number>) => `${Math.min(...values)} to ${Math.max(...values)}`
    const many = Object.entries(requests).filter(([, count]) => count > 100)
    const most = range(many.map(([, count]) => count))
    const atExpiry = Object.entries(slow).filter(([name, calls]) => !name.startsWith(ours) && calls > 0)
    const sentences: ReadonlyArray<readonly [text: string, sentence: string]> = [
      [
        flat("README.md"),
        `these packages sent ${requests[ours]} token requests.`
      ],
      [flat("README.md"), `which do not pause, sent ${most}`],
      [flat("README.md"), `keeps failures for a second also sends ${requests["Effect's Cache"]},`],
      [
        record("0001-own-supply"),
        `${times("Effect's Cache")} × as much with \`Cache\` and ${times(cached)} × as much with \`${cached}\``
      ],
      [
        record("0001-own-supply"),
        `sends ${requests[ours]} token requests, \`Cache\` ${requests["Effect's Cache"]} and \`${cached}\` ${
          requests[cached]
        }`
      ],
      [record("0002-renewal-when-a-caller-asks"), `each has ${range(atExpiry.map(([, calls]) => calls))} such calls`],
      [
        record("0003-failures-are-remembered"),
        `sends ${requests[ours]} token requests. Libraries without a pause send ${most}`
      ],
      [
        record("0004-checks-in-the-last-step"),
        `costs ${ratios(calls)[0]} × the CPU of Effect's client without a token on Effect 3, and ${
          ratios(calls)[1]
        } × on Effect 4`
      ],
      [
        flat("README.md"),
        `a call takes ${ratios(calls)[0]} times the CPU on Effect 3 and ${ratios(calls)[1]} times on Effect 4, ` +
        `and the bundle is ${ratios(bundle)[0]} and ${ratios(bundle)[1]} times as large`
      ]
    ]
    for (const [text, sentence] of sentences) assert.include(text, sentence)
    assert.lengthOf(many, 6)
  })

  const costs = [
    ["a cached token, as a Promise", "a cached token", "µs"],
    [
      "10 000 callers without a token, until the last of them has it",
      "10 000 cold callers, an endpoint that takes 50 ms",
      "ms"
    ],
    [
      "CPU of a call with its token, through Effect's `HttpClient` on `fetch`",
      calls,
      "µs"
    ],
    ["the bundle of a program with one client, minified and gzipped", "bundle, minified and gzipped", "kB"],
    ["loading that bundle", "cold import of the bundle", "ms"]
  ] as const

  it("are on the page about costs", () => {
    const page = rows(summary)
    for (const [name, scenario, unit] of costs) {
      const row = rowOf(`${scenario}, ${unit}`)
      const cells = lines.map((line, index) =>
        `${row[header.indexOf(line)]} ${unit} (${ratios(scenario)[index]} × Effect alone)`
      )
      assert.deepStrictEqual(page.find(([first]) => first === name)?.slice(1, 3), cells)
    }
    const text = summary.replaceAll(/\s+/g, " ")
    const [bundle3, bundle4] = ratios("the bundle, compared with one that reads its credentials")
    assert.include(text, `the bundle is ${bundle3} × on Effect 3 and ${bundle4} × on Effect 4`)
    assert.include(text, `an endpoint received ${requests[ours]} requests in the first 3 seconds of an outage`)
    const minutes = rows(read("benchmarks/results/sustained.md")).filter(([minute = ""]) => /^\d+$/.test(minute))
    const cpu = minutes.map((cells) => Number(cells[7]))
    assert.lengthOf(minutes, 15)
    assert.include(text, `uses ${Math.min(...cpu)} to ${Math.max(...cpu)} % of a core`)
    const [heap, p50, p99, p999] = [8, 4, 5, 6].map((column) => minutes.map((cells) => Number(cells[column])))
    const between = (values: ReadonlyArray<number> = [], digits = 0) =>
      `${Math.min(...values).toFixed(digits)} to ${Math.max(...values).toFixed(digits)} ms`
    assert.include(text, `between ${Math.min(...heap ?? [])} and ${Math.max(...heap ?? [])} MiB`)
    assert.include(text, `the median call takes ${between(p50, 1)}, the 99th percentile ${between(p99)}`)
    assert.include(text, `the 99.9th ${between(p999)}`)
    const [calls, failed, rejected] = [1, 2, 3].map((column) =>
      minutes.reduce((sum, cells) => sum + Number(cells[column]), 0)
    )
    const spaced = (count = 0) => count.toLocaleString("en").replaceAll(",", " ")
    assert.strictEqual(failed, 0)
    assert.include(text, `Of ${spaced(calls)} calls, ${spaced(rejected)} returned 401`)
    const files = minutes.map((cells) => Number(cells[9]))
    assert.include(flat("docs/network.md"), `then had up to ${Math.max(...files)} open files`)
  })
})

/** Facts that a page repeats from the code of a file: the code, the page, and the sentence that has to change with it. */
const repeated: Readonly<Record<string, ReadonlyArray<readonly [code: string, page: string, sentence: string]>>> = {
  "packages/fleet/src/internal/protocol.ts": [
    ["lookPauseMillis = { from: 20, to: 200, atMost: 1_000 }", "docs/fleet.md", "check the store every 20 to 200 ms"],
    [
      "Duration.times(endpoint.deadline, 2)",
      "docs/operations.md",
      "after at most 10 seconds, or 20 seconds with a shared store"
    ]
  ],
  "packages/fleet/src/internal/access.ts": [
    ["budgetMillis = 600", "docs/fleet.md", "at most 0.6 seconds in total"],
    [
      "faultsToPause = 3\nconst pauseMillis = 10_000",
      "docs/fleet.md",
      "After three consecutive faults, the process does not use the store for 10 seconds"
    ],
    ["budgetMillis = 600", "docs/configuration.md", "| a shared store's delay of a token request | 0.6 seconds |"]
  ],
  "packages/store-redis/src/internal/connection.ts": [
    [
      "socketTimeout = 2_000\nconst connectTimeout = 2_000",
      "docs/fleet.md",
      "closes a connection on which nothing arrives for 2 seconds"
    ]
  ],
  "packages/fleet/src/internal/sealing.ts": [
    ["shortestSecret = 32", "docs/fleet.md", "needs at least 32 characters"],
    ["shortestSecret = 32", "packages/cli/README.md", "at least 32 characters"],
    [
      "shortestSecret = 32",
      "docs/configuration.md",
      "| the client secret for a shared store and for `--cache` | at least 32 characters |"
    ]
  ],
  "packages/core/src/internal/tokenState.ts": [
    ["refusalPause = 30_000", "docs/concepts.md", "is remembered for 30 seconds"],
    ["expiringMillis = 5_000", "docs/concepts.md", "Due --> Expiring: 5 s left"],
    ["expiringMillis = 5_000", "docs/concepts.md", "The older token is used until the last 5 seconds of its lifetime"],
    ["retries = 2", "docs/concepts.md", "is retried up to twice"],
    ["longestPause = 60_000", "docs/operations.md", "The pauses then grow to between 30 and 60 seconds"],
    ["scopeMillis = 5 * 60_000", "docs/operations.md", "requests a token with the scope at most every five minutes"],
    ["export const retries = 2", "docs/configuration.md", "| retries of a token request without a valid token | 2 |"],
    [
      "shortestPause = 1_000\nexport const longestPause = 60_000",
      "docs/configuration.md",
      "| pause after a retryable failure | 1 second, doubled after each failure up to 60 seconds; the second half of it is random |"
    ],
    ["refusalPause = 30_000", "docs/configuration.md", "| pause after a refusal | 30 seconds |"],
    ["scopeMillis = 5 * 60_000", "docs/configuration.md", "| requests for a missing scope | at most every 5 minutes |"]
  ],
  "packages/core/src/internal/tokenRequest.ts": [
    ["longestLifetime = Duration.days(7)", "docs/configuration.md", "| the longest use of any token | 7 days |"],
    ["maxSize = 1024 * 1024", "docs/configuration.md", "| a token endpoint's response | 1 MiB after decompression |"],
    [
      "unknownLifetime = Duration.minutes(5)",
      "docs/configuration.md",
      "| the lifetime of a token without `expires_in`, which is logged | 5 minutes |"
    ],
    [
      "longestRetryAfter = 60_000",
      "docs/configuration.md",
      "| the longest `Retry-After` that is respected | 60 seconds |"
    ]
  ],
  "packages/http-client/src/GroupClient.ts": [
    ["mostClosedConnections = 3", "docs/network.md", "up to three times"],
    ["mostClosedConnections = 3", "docs/configuration.md", "| retries of a call after a reset | 3 |"],
    ["mostTokens = 3", "docs/concepts.md", "A call is sent with at most three tokens"],
    [
      "mostTokens = 3",
      "docs/configuration.md",
      "| attempts of a call that gets 401 | 3, with different tokens |"
    ]
  ],
  "packages/http-client/src/internal/resend.ts": [
    ["mostRead = 64 * 1024", "packages/http-client/README.md", "up to 64 KiB of the response for at most a second"],
    [
      "mostRead = 64 * 1024",
      "docs/configuration.md",
      "| the part of a 401's body that is read before the call is resent | 64 KiB, for at most a second |"
    ]
  ],
  "packages/migration/src/internal/fallback.ts": [
    ["patience = Duration.seconds(2)", "docs/migration.md", "wait for V2 for up to 2 seconds"],
    ["quietMillis = 5 * 60_000", "docs/migration.md", "again after five minutes without such a call"],
    [
      "patience = Duration.seconds(2)",
      "docs/configuration.md",
      "| wait for V2 in a migration with a fallback | 2 seconds |"
    ]
  ],
  "packages/migration/src/Migration.ts": [
    ["planInterval ?? \"10 seconds\"", "docs/migration.md", "at most every 10 seconds"]
  ],
  "packages/store-redis/src/RedisTokenStore.ts": [
    ["prefix = \"credit-data:\"", "docs/fleet.md", "delete the keys that begin with `credit-data:`"]
  ],
  "packages/core/src/internal/supply.ts": [
    ["refreshMillis = 1_000", "docs/configuration.md", "| `refresh` | at most once per second |"]
  ],
  "packages/telemetry/src/HealthCheck.ts": [
    ["patience = \"800 millis\"", "docs/configuration.md", "| the wait of `HealthCheck.ready` for a token | 800 ms |"],
    ["patience = \"800 millis\"", "docs/telemetry.md", "waits for up to 800 ms"]
  ],
  "packages/core/src/internal/printable.ts": [
    ["printable = atMost(300)", "docs/configuration.md", "| text from a server in a message | 300 characters |"]
  ]
}

describe.each(Object.entries(repeated))("%s", (file, facts) => {
  it.each(facts)("has %s, as %s repeats", (code, page, sentence) => {
    assert.include(read(file), code)
    assert.include(read(page).replaceAll(/\s+/g, " "), sentence)
  })
})

describe("the recipes for a client of ioredis", () => {
  it("are the ones that the tests of the store run", () => {
    const flat = (text: string) => text.replaceAll(/^ \*/gm, " ").replaceAll(/(export\s|\s)+/g, " ").trim()
    const [, tested = ""] = read("packages/store-redis/test/support/recipes.ts").split(/\/\/ (?:begin|end)\n/)
    assert.isAbove(tested.length, 1_000)
    assert.include(flat(read("packages/store-redis/src/RedisClient.ts")), flat(tested))
  })
})

describe("the table of names that are different on Effect 4", () => {
  const page = "docs/effect-4.md"
  const table = rows(section(page, "## Renamed members")).flatMap(([left = "", right = ""]) => {
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

  it("would be found to be wrong with a name of Effect 3 in its second column", () => {
    assert.notStrictEqual(rename("Effect.catchAll(handle)"), "Effect.catchAll(handle)")
  })
})

it("the page about promises, its example and its test have the same functions", () => {
  const codeOf = (file: string, name: string) =>
    new RegExp(`^ *(?:export )?const (${name} = [\\s\\S]*?)\\n(?:\\n|\\x60{3}|  return )`, "m").exec(read(file))?.[1]
      ?.replaceAll(/\s+/g, " ")
  for (const name of ["run", "readConsumer", "statusOf"]) {
    const code = codeOf("examples/src/promises.ts", name)
    assert.isAbove(code?.length ?? 0, 100)
    assert.strictEqual(codeOf("tests/integration/test/promisesExample.test.ts", name), code)
    if (name !== "statusOf") assert.strictEqual(codeOf("docs/promises.md", name), code)
  }
})
