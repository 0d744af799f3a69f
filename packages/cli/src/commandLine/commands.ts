import type { Choice, Flag, Invocation as InvocationOf, Specification, Text } from "./specification.ts"

export const shells = ["bash", "zsh", "fish"] as const

const auth = {
  kind: "choice",
  values: ["v1", "v2"],
  summary: "token endpoint (CREDIT_DATA_AUTH, or v2)"
} as const satisfies Choice

const cache = {
  kind: "flag",
  summary: "keep the token on disk, sealed"
} as const satisfies Flag

const envFile = {
  kind: "text",
  placeholder: "FILE",
  isFile: true,
  summary: "read variables from FILE, unless set"
} as const satisfies Text

const json = { kind: "flag", summary: "print JSON" } as const satisfies Flag

const probe = {
  kind: "text",
  placeholder: "PROBE",
  isRepeated: true
} as const satisfies Omit<Text, "summary">

const commands = {
  token: {
    summary: "print an access token",
    options: {
      auth,
      cache,
      "env-file": envFile,
      output: {
        kind: "choice",
        values: ["text", "json", "header", "env"],
        summary: "form (header: for curl)"
      },
      "show-token": { kind: "flag", summary: "show the token even on a terminal" }
    },
    examples: [
      "--cache --output json",
      "--output header | curl -H @- \"$URL\""
    ]
  },
  doctor: {
    summary: "find out what is wrong, from the variables to the API",
    options: {
      auth,
      "env-file": envFile,
      json,
      probe: { ...probe, summary: "try the token with PATH, or 'GET PATH' (repeatable)" }
    },
    examples: ["--env-file .env", "--probe /data-access/consumers/42 --json"]
  },
  compare: {
    summary: "compare V1 with V2: tokens, and your probes with both",
    options: {
      "env-file": envFile,
      json,
      probe: { ...probe, summary: "send PATH, or 'GET PATH', with both tokens (repeatable)" }
    },
    examples: ["--probe /data-access/consumers/42", "--env-file .env --json"]
  },
  call: {
    summary: "send one call to the business API, with a token",
    options: {
      auth,
      cache,
      data: { kind: "text", placeholder: "BODY", short: "d", summary: "body, JSON by default; @FILE, or @- for stdin" },
      "env-file": envFile,
      fail: { kind: "flag", short: "f", summary: "exit with 22 if the status is 400 or more" },
      header: {
        kind: "text",
        placeholder: "HEADER",
        short: "H",
        isRepeated: true,
        summary: "'Name: value' (repeatable)"
      },
      include: { kind: "flag", short: "i", summary: "print status and headers before the body" },
      output: {
        kind: "text",
        placeholder: "FILE",
        short: "o",
        isFile: true,
        summary: "write the body to FILE as it is"
      },
      request: { kind: "text", placeholder: "METHOD", short: "X", summary: "method (GET, or POST with --data)" }
    },
    operands: { placeholder: "PATH", minimum: 1, maximum: 1 },
    examples: ["/data-access/consumers/42", "-X PUT -d @body.json --fail /furnishment/submissions/7"]
  },
  exec: {
    summary: "run a program with the token in CREDIT_DATA_ACCESS_TOKEN",
    options: { auth, cache, "env-file": envFile },
    operands: { placeholder: "-- PROGRAM [ARGUMENT...]", minimum: 1, maximum: Infinity, isProgram: true },
    examples: ["-- ./import.sh", "--env-file .env -- node import.js"]
  },
  status: {
    summary: "show the cached token's life and its scopes; sends nothing",
    options: { auth, "env-file": envFile, json },
    examples: ["", "--json"]
  },
  simulator: {
    summary: "run a simulated service on this machine",
    options: {
      console: { kind: "flag", summary: "serve the console, a page that shows every request" },
      "env-file": envFile,
      fixtures: {
        kind: "text",
        placeholder: "PATH",
        isFile: true,
        summary: "a folder of JSON responses, or an OpenAPI file"
      },
      log: { kind: "flag", summary: "print a line for each request" },
      port: {
        kind: "integer",
        placeholder: "PORT",
        summary: "first of 3 ports, 4 with --console (7400)"
      },
      "token-lifetime": { kind: "text", placeholder: "TIME", summary: "token lifetime: 90s, 10m, 24h (24h)" },
      "write-env": {
        kind: "text",
        placeholder: "FILE",
        isFile: true,
        summary: "write the variables to a new file"
      }
    },
    examples: ["--console --write-env simulator.env", "--fixtures ./fixtures --token-lifetime 10m --log"]
  },
  completions: {
    summary: "print the completions for a shell",
    options: {},
    operands: { placeholder: shells.join("|"), minimum: 1, maximum: 1, values: shells },
    examples: [
      "bash >> ~/.bash_completion",
      "fish | source"
    ]
  }
} as const satisfies Record<string, Specification>

export type Name = keyof typeof commands

/** What was given to the command of this name. */
export type Invocation<N extends Name> = InvocationOf<(typeof commands)[N]>

export const isShell = (text: string | undefined): text is (typeof shells)[number] =>
  shells.some((shell) => shell === text)

export const names: ReadonlyArray<Name> = [
  "token",
  "doctor",
  "compare",
  "call",
  "exec",
  "status",
  "simulator",
  "completions"
]

export const isName = (text: string | undefined): text is Name => text !== undefined && Object.hasOwn(commands, text)

/** The specification of a command, for code that treats all commands alike. */
export const specificationOf = (name: Name): Specification => commands[name]
