import { OpenApi } from "@effect/platform"
import { Duration, Effect, Schema } from "effect"
import { parse as parseYaml } from "yaml"
import * as exampleRules from "../../../effect-4/exampleRules.ts"
import { manifest, versionOf } from "../../../effect-4/packages.ts"
import * as rules from "../../../effect-4/rules.ts"
import { renamed } from "../../../effect-4/src/names.ts"
import { examplesIn, rewriteExamples } from "../../../effect-4/src/rewrite.ts"
import { names, optionsOf, specificationOf } from "../../../packages/cli/src/commandLine/commands.ts"
import { environment } from "../../../packages/cli/src/commandLine/environment.ts"
import { verdicts } from "../../../packages/cli/src/commands/compare.ts"
import { placeholderOf, spellingsOf } from "../../../packages/cli/src/commandLine/specification.ts"
import { meanings } from "../../../packages/cli/src/exitCode.ts"
import { TokenError } from "../../../packages/core/src/index.ts"
import * as advice from "../../../packages/core/src/internal/advice.ts"
import * as failureText from "../../../packages/core/src/internal/failureText.ts"
import { InsufficientScope } from "../../../packages/http-client/src/index.ts"
import { mostClosedConnections, mostTokens } from "../../../packages/http-client/src/internal/attempts.ts"
import { habits } from "../../../packages/promise/test/support/fetchHabits.ts"
import { AdminApi } from "../../../packages/simulator/src/internal/admin/AdminApi.ts"
import * as simulatorArguments from "../../../packages/simulator/src/internal/standalone/arguments.ts"
import { HealthCheck } from "../../../packages/telemetry/src/index.ts"
import { repositoryFiles } from "../repositoryFiles.ts"
import {
  declarationsWithOptions,
  docOf,
  docsOfInternal,
  limitsOf,
  type Member,
  membersOf,
  privateMembers,
  valuesOf
} from "./declarations.ts"
import { read } from "./files.ts"
import { logLines } from "./logLines.ts"
import { program, variables } from "./observed.ts"

// One section for each kind of table.

type Row = ReadonlyArray<string>

/** A table as the formatter writes it. */
const table = (head: Row, rows: ReadonlyArray<Row>): string => {
  const all = [head, ...rows].map((row) => row.map((cell) => cell.replaceAll("|", "\\|")))
  const widths = head.map((_, column) => Math.max(3, ...all.map((row) => row[column]?.length ?? 0)))
  const line = (row: Row) => `| ${widths.map((width, column) => (row[column] ?? "").padEnd(width)).join(" | ")} |`
  const [first = [], ...others] = all
  return [line(first), line(widths.map((width) => "-".repeat(width))), ...others.map(line)].join("\n")
}

const code = (text: string) => `\`${text}\``

const codes = (texts: Iterable<string>) => [...texts].map(code).join(", ")

/** What the docstring of a member says. */
const meaningOf = ({ doc, name }: Member): string => {
  if (doc === "") throw new Error(`${name} has no docstring`)
  return doc
}

const sentence = (text: string) => text.replace(/^[a-z]/, (letter) => letter.toUpperCase())

/** The values of a type, as its docstring describes them. */
const values = (head: string, declaration: string) =>
  table([head, "meaning"], valuesOf(declaration).map(([value, text]) => [code(value), sentence(text)]))

// Options: where they can be set, and the declarations that have them.

const adapterOptions = {
  "`layer` and `layerTokenEndpoint`": "core/Adapter.Options",
  "`layerConfig` and `layerTokenEndpointConfig`": "core/Adapter.ConfigOptions",
  "All layers of `AuthV1` and `AuthV2`": "core/TokenEndpoint.Settings",
  "`layer` and `layerConfig`": "core/AccessTokens.Settings"
}

const otherOptions = {
  "`DataAccess.layer`, `Furnishment.layer`, `EnablementServices.layer`": "http-client/GroupClient.Settings",
  "`Fetch.make`": "http-client/Fetch.Options",
  "`GroupClient.make`, with those of `DataAccess.layer`": "http-client/GroupClient.Options",
  "`AccessTokens.layer`, `SharedTokens.layer`": "core/AccessTokens.Settings",
  "`AccessTokens.layerTest`": "core/AccessTokens.layerTest",
  "`TokenStore.layerFileSystem`": "fleet/TokenStore.layerFileSystem",
  "`RedisTokenStore.layer`": "store-redis/RedisTokenStore.Options",
  "`RedisTokenStore.layerClient`": "store-redis/RedisTokenStore.layerClient",
  "`Telemetry.layer`": "telemetry/Telemetry.Settings",
  "`Simulator.layer`": "simulator/Simulator.Settings",
  "`SimulatorConsole.layer`": "simulator/SimulatorConsole.layer",
  "`Adapter.make`": "core/Adapter.Definition",
  "`connect` of `@credit-data/promise`": "promise/Connection.Options"
}

const faultOptions = ["simulator/Simulator.FaultOptions", "simulator/Fault.Selection"]

/** An option with its default, which its docstring names: `Default: 10 seconds.` */
const optionRow = (member: Member): Row => {
  const { isOptional, name } = member
  const doc = meaningOf(member)
  const [found = "", value = "none"] = / ?Default: (.*?)\.(?=\s|$)/.exec(doc) ?? []
  return [code(name), isOptional ? value : "required", doc.replace(found, "")]
}

const optionTable = (...declarations: ReadonlyArray<string>) =>
  table(["option", "default", "meaning"], declarations.flatMap(membersOf).map(optionRow))

const options = (places: Readonly<Record<string, string>>) =>
  Object.entries(places).map(([place, declaration]) => `### ${place}\n\n${optionTable(declaration)}`).join("\n\n")

const checkOptions = () => {
  const shown = [...Object.values(adapterOptions), ...Object.values(otherOptions), ...faultOptions]
  const missing = declarationsWithOptions().filter((declaration) => !shown.includes(declaration))
  if (missing.length > 0) throw new Error(`no table has the options of ${missing.join(", ")}`)
}

// Variables: those of the layers, as their errors describe them, and those of the commands.

const variableTable = async () => {
  const ofCommands = (reader: string, variables: Readonly<Record<string, string>>) =>
    Object.entries(variables).map(([name, meaning]) => [code(name), meaning, reader])
  return table(["variable", "meaning", "read by"], [
    ...[...await Effect.runPromise(variables)].map(([name, { readBy, text }]) => {
      const [meaning = "", example] = text.split(", for example ")
      return [code(name), example === undefined ? meaning : `${meaning}, such as ${code(example)}`, codes(readBy)]
    }),
    ...ofCommands("`credit-data`", environment),
    ...ofCommands("`credit-data-simulator`", simulatorArguments.variables)
  ])
}

// Limits that no option changes.

const bytes = (count: number) => count % 1_048_576 === 0 ? `${count / 1_048_576} MiB` : `${count / 1024} KiB`

const time = (duration: Duration.DurationInput) => {
  const [value = 0, unit = ""] = Object.entries(Duration.parts(duration)).flatMap(([unit, value]) =>
    value > 0 ? [value, unit] : []
  )
  return `${value} ${value === 1 ? String(unit).slice(0, -1) : unit}`
}

const units: Readonly<Record<string, (value: Duration.DurationInput) => string>> = {
  bytes: (value) => bytes(Number(value)),
  count: String,
  time
}

/** The constants whose docstring has `@limit` and the unit. */
const limitTable = async () => {
  const rows = await Promise.all(
    limitsOf("core").map(async ({ file, limits }) => {
      const values: Readonly<Record<string, Duration.DurationInput>> = await import(file)
      return limits.map(({ doc, name, unit }) => {
        const [value, shown] = [values[name], units[unit]]
        if (value === undefined || shown === undefined) {
          throw new Error(
            `${name} in ${file} needs an export, and \`@limit\` with one of ${Object.keys(units).join(", ")}.`
          )
        }
        return [doc.replace(/\.$/, ""), shown(value)]
      })
    })
  )
  const ofCalls = Object.entries({ mostTokens, mostClosedConnections }).map(([name, value]) => [
    docsOfInternal("http-client", name)[0]?.replace(/\.$/, "") ?? "",
    String(value)
  ])
  return table(["limit", "value"], [...rows.flat(), ...ofCalls])
}

// Failures: their fields, and the reasons and rules.

const typeNames: Readonly<Record<string, string>> = {
  "Schema.String": "string",
  "Schema.Int": "number",
  "Schema.Boolean": "boolean",
  "Schema.DateTimeUtc": "DateTime.Utc",
  "Schema.DurationFromMillis": "Duration.Duration",
  "Schema.Array(Schema.String)": "ReadonlyArray<string>"
}

const typeOf = (schema: string): string => {
  const [, optional] = /^Schema\.optional\((.*)\)$/.exec(schema) ?? []
  return optional === undefined ? typeNames[schema] ?? schema : `${typeOf(optional)} | undefined`
}

const fields = (names: ReadonlyArray<string>, members: ReadonlyArray<Member>) =>
  table(
    ["field", "type", "meaning"],
    names.filter((name) => name !== "_tag").map((name) => {
      const member = members.findLast((member) => member.name === name)
      if (member === undefined) throw new Error(`a failure has the field ${name}, which has no docstring`)
      return [code(name), code(typeOf(member.type)), meaningOf(member)]
    })
  )

/** What the docstring of a class says, without its references to the contract, and the table of its fields. */
const described = (path: string, table: string) =>
  `${docOf(path).replaceAll(/ \(service contract, [^)]*\)/g, "")}\n\n${table}`

const fieldTables = () => {
  // what several failures have in common is described once, outside of them
  const shared = privateMembers("core/TokenError")
  const [first, ...others] = TokenError.TokenError.members.map((failure) => Object.keys(failure.fields))
  const common = [...(first ?? []).filter((name) => others.every((names) => names.includes(name))), "message"]
  return {
    "fields of every token error": fields(common, [...shared, ...membersOf("core/TokenError.InvalidClient")]),
    ...Object.fromEntries(TokenError.TokenError.members.map((failure) => [
      failure._tag,
      described(
        `core/TokenError.${failure._tag}`,
        fields(
          [...Object.keys(failure.fields), "retryable"].filter((name) => !common.includes(name)),
          [...shared, ...membersOf(`core/TokenError.${failure._tag}`)]
        )
      )
    ])),
    InsufficientScope: described(
      "http-client/InsufficientScope.InsufficientScope",
      fields(
        [...Object.keys(InsufficientScope.InsufficientScope.fields), "message"],
        membersOf("http-client/InsufficientScope.InsufficientScope")
      )
    )
  }
}

// Metrics and spans: what a program shows that obtains tokens, makes a call and fails.

const labelsOfAll = ["credit_data_client_id", "credit_data_environment", "credit_data_version", "server_address", "le"]

const metricTable = (text: string) => {
  const series = [...text.matchAll(/^(\w+)\{(.*)\} /gm)]
  const row = ([, name = "", meaning = "", type = ""]: RegExpMatchArray): Row => {
    const labels = new Map<string, Set<string>>()
    for (const [, , text = ""] of series.filter(([, of]) => of?.startsWith(name))) {
      for (const [, label = "", value = ""] of text.matchAll(/(\w+)="([^"]*)"/g)) {
        if (!labelsOfAll.includes(label)) labels.set(label, (labels.get(label) ?? new Set()).add(value))
      }
    }
    const shown = [...labels].map(([label, values]) =>
      label === "outcome" ? `${code(label)} (${codes([...values].toSorted())})` : code(label)
    )
    const ofLabels = shown.length === 0 ? "" : ` Labels: ${shown.toSorted().join(", ")}.`
    return [code(name), `${sentence(type)}. ${meaning}.${ofLabels}`]
  }
  const metrics = [...text.matchAll(/^# HELP ((?:credit_data|http_client)_\w+) (.*)\n# TYPE \w+ (\w+)$/gm)]
  return table(
    ["metric (Prometheus)", "meaning"],
    metrics.map(row).toSorted(([a = ""], [b = ""]) => a < b ? -1 : 1)
  )
}

const attributeMeanings: Readonly<Record<string, string>> = {
  "credit_data.client_id": "the first 64 characters of the client id",
  "credit_data.environment": "the name of the environment",
  "credit_data.group": "the endpoint group",
  "credit_data.token.reason": "why the token was requested",
  "credit_data.token.replaced": "`true` if the call was resent with another token, after a 401",
  "credit_data.token.wait_duration": "how long the call waited for tokens, in seconds",
  "error.type":
    "the status if it is 400 or more; the reason if there is no response, or if the request was not sent; `Interrupted`; or the tag of another error",
  "http.request.method": "the method",
  "http.request.resend_count": "how often the request was resent, for any reason",
  "http.response.status_code": "the status",
  "server.address": "the host",
  "server.port": "the port",
  "url.template": "the path template, if you set one"
}

const spanTable = (spans: ReadonlyArray<{ readonly name: string; readonly attributes: object }>) => {
  const spansWith = (attribute: string) =>
    new Set(
      spans.filter(({ attributes }) => attribute in attributes)
        .map(({ name }) => name.startsWith("TokenEndpoint.") ? code(name.slice("TokenEndpoint.".length)) : "call")
    )
  const found = new Set(spans.flatMap(({ attributes }) => Object.keys(attributes)))
  return table(
    ["attribute", "meaning", "spans"],
    [...found].toSorted().map((name) => {
      const meaning = attributeMeanings[name]
      if (meaning === undefined) throw new Error(`attributeMeanings does not describe ${name}`)
      return [code(name), meaning, [...spansWith(name)].join(", ")]
    })
  )
}

// Alerts: the rules for Prometheus.

interface Rule {
  readonly alert: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly description: string; readonly runbook_url: string }
}

const alertTable = () => {
  const { groups }: { readonly groups: ReadonlyArray<{ readonly rules: ReadonlyArray<Rule> }> } = parseYaml(
    read("packages/telemetry/alerts/credit-data.rules.yml")
  )
  return table(
    ["alert", "severity", "meaning"],
    groups.flatMap(({ rules }) => rules).map(({ alert, annotations, labels }) => [
      `[${code(alert)}](#${annotations.runbook_url.split("#")[1]})`,
      labels.severity,
      annotations.description.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => code(label))
    ])
  )
}

// The simulator: its members, faults, admin API and command.

const memberTable = (declaration: string) =>
  table(
    ["member", "meaning"],
    membersOf(declaration).map((member) => [
      code(member.parameters === undefined ? member.name : `${member.name}(${member.parameters.join(", ")})`),
      meaningOf(member)
    ])
  )

const faultTable = () => {
  const texts = new Map(valuesOf("simulator/Fault.Fault"))
  return table(
    ["fault", "effect on the request"],
    membersOf("simulator/Fault.Fault").map(({ name, type }) => {
      const fields = [...type.matchAll(/readonly (\w+)/g)].map(([, field]) => field).join(", ")
      return [code(fields === "" ? `${name}()` : `${name}({ ${fields} })`), sentence(texts.get(name) ?? "")]
    })
  )
}

const adminTable = () =>
  table(
    ["request", "meaning"],
    Object.entries(OpenApi.fromApi(AdminApi).paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { summary }]) => {
        if (summary === undefined) throw new Error(`the admin API does not describe ${method} ${path}`)
        return [code(`${method.toUpperCase()} ${path}`), summary]
      })
    )
  )

// The command line.

/** Commands share most options. */
const commandOptions = () => {
  const found = new Map<string, { readonly row: Row; readonly commands: Array<string> }>()
  for (const command of names) {
    for (const [name, option] of optionsOf(command)) {
      if (name === "help") continue
      const spellings = spellingsOf([name, option]).toReversed().join(", ")
      const spelling = `${spellings} ${placeholderOf(option) ?? ""}`.trim()
      const { commands } = found.get(spelling + option.summary) ?? { commands: [] }
      found.set(spelling + option.summary, { row: [code(spelling), option.summary], commands: [...commands, command] })
    }
  }
  return table(
    ["option", "meaning", "commands"],
    [...found.values()].toSorted((a, b) => b.commands.length - a.commands.length).map(({ commands, row }) => [
      ...row,
      codes(commands)
    ])
  )
}

// Effect 4: the names that the generator writes for those in the examples and on the pages.

const onEffect4 = (source: string) =>
  examplesIn(rewriteExamples("docs/effect-4.md", `\`\`\`ts\n${source}\n\`\`\``, new Map())).join("\n")

/** Expressions of another shape. */
const shapes = [
  "class Api extends Context.Tag(\"Api\")<Api, Service>() {}",
  "Effect.either(effect)",
  "Effect.timeoutFail({ duration: time, onTimeout: () => error })",
  "HttpRouter.empty.pipe(HttpRouter.get(\"/a\", a), HttpRouter.get(\"/b\", b))",
  "Schema.Literal(\"a\", \"b\")",
  "Schema.Record({ key: Schema.String, value: Schema.Int })"
]

const renamedTable = () => {
  const sources = repositoryFiles.flatMap((file) =>
    /^examples\/src\/.*\.ts$/.test(file) ? [read(file)] : file.endsWith(".md") ? examplesIn(read(file)) : []
  )
  const members = new Map(
    sources.flatMap((source) =>
      [/\b[A-Z]\w+\.\w+/g, /\b[A-Z]\w+\.\w+\.\w+/g].flatMap((name) => source.match(name) ?? [])
    ).toSorted().flatMap((name) => {
      const to = renamed(name, { ...rules.members, ...exampleRules.members })?.to
      // the row of a shape shows its member
      return to === undefined || shapes.some((shape) => shape.includes(`${name}(`)) ? [] : [[name, to]]
    })
  )
  return table(
    ["Effect 3", "Effect 4"],
    [...members, ...shapes.map((shape) => [shape, onEffect4(shape)])].map((row) => row.map(code))
  )
}

const imports = [
  "import { HttpClient } from \"@effect/platform\"",
  "import { HttpApi } from \"@effect/platform\"",
  "import { FileSystem } from \"@effect/platform\"",
  "import { Path } from \"@effect/platform\"",
  "import { Otlp } from \"@effect/opentelemetry\"",
  "import { Either } from \"effect\"",
  "import { TestClock } from \"effect\""
]

const importTable = () =>
  table(
    ["Effect 3", "Effect 4"],
    // the generator leaves out what is not used
    imports.map((line) => [line, onEffect4(`${line}\n${/\w+(?= \})/.exec(line)}.of()`).split("\n")[0] ?? ""].map(code))
  )

// Versions: what the packages accept.

const versionTable = () => {
  const [peers3, peers4] = ["pnpm-workspace.yaml", "effect-4/pnpm-workspace.yaml"].map(
    (file): Readonly<Record<string, string>> => parseYaml(read(file)).catalogs.peers
  )
  // the one that has the platform among its peers, as a program has
  const simulator = JSON.parse(read("packages/simulator/package.json"))
  const manifests: ReadonlyArray<ReturnType<typeof manifest>> = [simulator, manifest(simulator)]
  const rowOf = (name: string, values: ReadonlyArray<string | undefined>) => [
    name,
    ...values.map((value) => value === undefined ? "none" : code(value))
  ]
  return table(["", "for Effect 3", "for Effect 4"], [
    rowOf("packages", ["1.x", versionOf("1.x")]),
    rowOf("npm tag", manifests.map(({ publishConfig }) => String(publishConfig?.["tag"] ?? "latest"))),
    rowOf("Node", manifests.map(({ engines }) => engines?.["node"])),
    ...Object.keys(peers3 ?? {}).map((name) => rowOf(code(name), [peers3?.[name], peers4?.[name]]))
  ])
}

/** How the `fetch` over `node:http` differs. A test runs each habit with both. */
const differences = table(
  ["habit", "global `fetch`", "`api.dataAccess`", "why"],
  habits.flatMap(({ differs, expected, habit }) =>
    differs === undefined ? [] : [[habit, `\`${differs.global}\``, `\`${differs.call ?? expected}\``, differs.why]]
  )
)

/** All tables, by name. */
export const tables = async (): Promise<Readonly<Record<string, string>>> => {
  checkOptions()
  const { metrics, spans } = await Effect.runPromise(program)
  return {
    "options of the adapters": options(adapterOptions),
    "options of other layers": options(otherOptions),
    variables: await variableTable(),
    "fixed limits": await limitTable(),
    "log lines": table(["level", "first sentence", "when", "logged again"], await Effect.runPromise(logLines)),
    ...fieldTables(),
    "reasons of a TransportError": table(
      ["reason", "meaning", "what the message says"],
      valuesOf("core/TokenError.TransportReason").map(([value, text]) => {
        const { reason } = Schema.decodeUnknownSync(Schema.Struct({ reason: TokenError.TransportReason }))({
          reason: value
        })
        const server = "the authorization server"
        return [
          code(value),
          sentence(text),
          sentence(`${failureText.happened({ reason })}. ${advice.transport(reason, server, "the address")}`)
        ]
      })
    ),
    "codes of the token endpoint": table(
      ["`error`", "what to do"],
      Array.from(advice.byCode, ([value, todo]) => [code(value), todo])
    ),
    "rules of an InvalidResponse": values("rule", "core/TokenError.ResponseRule"),
    "reasons of token requests": values("reason", "core/TokenEvent.RequestReason"),
    events: values("event", "core/TokenEvent.TokenEvent"),
    "faults of a store": values("`error_type`", "core/TokenEvent.StoreFailure"),
    status: memberTable("core/TokenStatus.TokenStatus"),
    phases: values("phase", "core/TokenStatus.TokenPhase"),
    metrics: metricTable(metrics),
    "attributes of spans": spanTable(spans),
    "differences from the global fetch": differences,
    "health checks": table(
      ["response", "meaning"],
      Object.keys(HealthCheck).toSorted().map((name) => [
        code(`HealthCheck.${name}`),
        docOf(`telemetry/HealthCheck.${name}`)
      ])
    ),
    alerts: alertTable(),
    "members of the simulator": memberTable("simulator/Simulator.Service"),
    "received requests": memberTable("simulator/Received.Received"),
    "faults of the simulator": faultTable(),
    "options of a fault": optionTable(...faultOptions),
    "admin API": adminTable(),
    "options of credit-data-simulator": table(
      ["option", "meaning"],
      Object.entries(simulatorArguments.options).map(([name, option]) => [
        code(`--${name} ${option.placeholder}`.trim()),
        option.summary
      ])
    ),
    commands: table(["command", "what it does"], names.map((name) => [code(name), specificationOf(name).summary])),
    "options of commands": commandOptions(),
    verdicts: table(
      ["verdict", "meaning", "exit code"],
      Object.entries(verdicts).map(([verdict, [, code]]) => [
        `\`${verdict}\``,
        sentence(new Map(valuesOf("cli/comparison.Verdict")).get(verdict) ?? ""),
        String(code)
      ])
    ),
    "exit codes": table(["exit code", "meaning"], Object.entries(meanings)),
    "names on Effect 4": renamedTable(),
    "imports on Effect 4": importTable(),
    versions: versionTable()
  }
}
