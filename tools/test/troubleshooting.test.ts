import { TokenError } from "@credit-data/core"
import { Lang, parse } from "@ast-grep/napi"
import { assert, describe, it } from "@effect/vitest"
import { Duration } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { messages } from "../../packages/cli/src/profiles.ts"
import { failureOf } from "../../packages/cli/src/secretCommand.ts"

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8")

/** What readers search for: the texts in the first column. */
const quoted = [...read("docs/troubleshooting.md").matchAll(/^\| (.*?) \|/gm)].flatMap(([, cell = ""]) =>
  Array.from(cell.matchAll(/`([^`]+)`/g), ([, text = ""]) => text)
)

const where = { environment: "sandbox", clientId: "acme", tokenEndpoint: "https://v2.example/oauth2/token" }
const serverErrors = [
  { status: 429 },
  { status: 503 },
  { status: 403 },
  { status: 404 },
  ...[
    "invalid_request",
    "invalid_scope",
    "invalid_target",
    "unauthorized_client",
    "unsupported_grant_type",
    "access_denied"
  ].map((error) => ({ status: 400, error }))
]

const failures: ReadonlyArray<TokenError.TokenError> = [
  new TokenError.InvalidClient({ ...where, status: 401, error: "invalid_client" }),
  ...serverErrors.map((fields) => new TokenError.ServerError({ ...where, ...fields })),
  ...TokenError.ResponseRule.literals.map((rule) => new TokenError.InvalidResponse({ ...where, status: 200, rule })),
  ...TokenError.TransportReason.literals.map((reason) =>
    new TokenError.TransportError({
      ...where,
      reason,
      ...(reason === "Timeout" && { deadline: Duration.seconds(10) })
    })
  )
]

/** The advice for what is known beyond a reason. */
const [, protocols = ""] =
  /export const protocol = \{\n([^]*?)\n\}/.exec(read("packages/core/src/internal/advice.ts")) ??
    []
const advice = [...protocols.matchAll(/^ {2}\w+:\n?((?:.*"\s*\+?\n?)+)/gm)].map(([, text = ""]) =>
  Array.from(text.matchAll(/"([^"]*)"/g), ([, part = ""]) => part).join("")
)

/** The lines that somebody has to act on. Between the parts of a line are values. */
const logLines = [...read("docs/telemetry.md").matchAll(/^\| (?:WARN|ERROR) +\| `([^`]+)`/gm)].map(([, line = ""]) =>
  line
)

/** The messages about profiles, and about a command that prints the secret. */
const aboutProfiles: { readonly [Name in keyof typeof messages | "failedCommand"]: string } = {
  noHome: messages.noHome(),
  none: messages.none("profiles.ini"),
  unreadable: messages.unreadable("profiles.ini", "EACCES"),
  ofAnotherUser: messages.ofAnotherUser("profiles.ini"),
  changeable: messages.changeable("profiles.ini"),
  unknown: messages.unknown("--profile", "profiles.ini", "sandbx", ["sandbox"]),
  besideOption: messages.besideOption("--profile", "--variables"),
  besideVariables: messages.besideVariables(["CREDIT_DATA_CLIENT_ID"]),
  incomplete: messages.incomplete("sandbox", "profiles.ini"),
  syntax: messages.syntax(),
  profileName: messages.profileName(),
  sameProfile: messages.sameProfile(1),
  noProfile: messages.noProfile(),
  secret: messages.secret(),
  unknownKey: messages.unknownKey("CREDIT_DATA_CLIENTID"),
  sameKey: messages.sameKey("CREDIT_DATA_CLIENT_ID", 2),
  openQuotes: messages.openQuotes(),
  noCommand: messages.noCommand("sandbox"),
  failedCommand: failureOf("The secret-command of profile sandbox", "exited with 3")
}

/** The first lines of doctor's failed steps and warnings. "…" stands for what is interpolated. */
const doctorLines = readdirSync(new URL("../../packages/cli/src/doctor", import.meta.url)).flatMap((file) => {
  const tree = parse(Lang.TypeScript, read(`packages/cli/src/doctor/${file}`)).root()
  const details = [
    ...["failed($A)", "failed($A, $$$)", "warning($A, $$$)", "unknown($A)"].flatMap((pattern) => tree.findAll(pattern)),
    ...tree.findAll("return [$A, $$$]"),
    ...tree.findAll("return [$A]")
  ].flatMap((call) => call.getMatch("A") ?? [])
  const literals = details.flatMap((detail) => {
    const all = detail.findAll({ rule: { any: [{ kind: "string" }, { kind: "template_string" }] } })
    return /^(string|template_string)$/.test(String(detail.kind())) ? [detail] : all
  })
  return literals.map((each) => each.text().slice(1, -1).replaceAll(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, "…"))
    .filter((text) => /[a-z] /.test(text))
})

const isFound = (message: string) => quoted.some((text) => message.includes(text))

describe("docs/troubleshooting.md", () => {
  it("has a row for the first line of each step of doctor that fails", () => {
    assert.isAbove(doctorLines.length, 30)
    assert.deepStrictEqual(doctorLines.filter((line) => !isFound(line)), [])
  })

  it("has a row for each failure of a token request", () => {
    assert.deepStrictEqual(failures.map(({ message }) => message).filter((message) => !isFound(message)), [])
  })

  it("has a row for each piece of advice about a connection", () => {
    assert.isAbove(advice.length, 4)
    assert.deepStrictEqual(advice.filter((text) => !isFound(text)), [])
  })

  it("has a row for each message about profiles", () => {
    assert.deepStrictEqual(Object.values(aboutProfiles).filter((message) => !isFound(message)), [])
  })

  it("has a row for each warning and error in the log", () => {
    assert.isAbove(logLines.length, 10)
    const parts = (line: string) => line.split("…").map((part) => part.trim())
    const missing = logLines.filter((line) =>
      !isFound(line) && !quoted.some((text) => parts(line).some((part) => part.length > 12 && text.includes(part)))
    )
    assert.deepStrictEqual(missing, [])
  })
})
