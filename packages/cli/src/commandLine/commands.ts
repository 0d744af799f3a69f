import type { Invocation as InvocationOf, Option, Specification } from "./specification.ts"

// The commands, with their options.

export const shells = ["bash", "zsh", "fish"] as const

const variables = {
  placeholder: "FILE",
  completes: "file",
  summary: "read variables from FILE, unless set"
} as const satisfies Option

const json = { summary: "print JSON" } as const satisfies Option

const secretCommand = {
  placeholder: "CMD",
  completes: "program",
  summary: "read the client secret from CMD's output"
} as const satisfies Option

const profile = {
  placeholder: "NAME",
  completes: "profile",
  summary: "use the variables of a profile (CREDIT_DATA_PROFILE)"
} as const satisfies Option

/** The options of all commands that need a token. */
const connected = {
  profile,
  "secret-command": secretCommand,
  timeout: { placeholder: "TIME", isTime: true, summary: "give up after TIME, such as 500ms, 30s or 2m" },
  variables,
  verbose: { short: "v", summary: "show requests and responses, without secrets" }
} as const satisfies Record<string, Option>

const auth = { values: ["v1", "v2"], summary: "token endpoint (CREDIT_DATA_AUTH, or v2)" } as const satisfies Option

const cache = { summary: "keep the token on disk, encrypted" } as const satisfies Option

const probe = { placeholder: "PROBE", isRepeated: true } as const satisfies Omit<Option, "summary">

const commands = {
  token: {
    summary: "print an access token",
    options: {
      ...connected,
      auth,
      cache,
      json,
      output: { values: ["text", "header", "env"], summary: "form (header: for curl)" },
      "show-token": { summary: "show the token even on a terminal" }
    },
    examples: ["--cache --json", "--output header | curl -H @- \"$URL\""]
  },
  doctor: {
    summary: "find out what is wrong, from the variables to the API",
    options: {
      ...connected,
      auth,
      json,
      probe: { ...probe, summary: "try the token with PATH, or 'GET PATH' (repeatable)" }
    },
    examples: ["--variables .env", "--probe /data-access/consumers/42 --json"]
  },
  compare: {
    summary: "compare V1 with V2: tokens, and your probes with both",
    options: {
      ...connected,
      json,
      probe: { ...probe, summary: "send PATH, or 'GET PATH', with both (repeatable)" }
    },
    examples: ["--probe /data-access/consumers/42", "--variables .env --json"]
  },
  call: {
    summary: "send one call to the business API, with a token",
    options: {
      ...connected,
      auth,
      cache,
      data: {
        placeholder: "BODY",
        short: "d",
        completes: "@file",
        summary: "body, JSON by default; @FILE, or @- for stdin"
      },
      fail: { short: "f", summary: "exit with 22 if the status is 400 or more" },
      header: { placeholder: "HEADER", short: "H", isRepeated: true, summary: "'Name: value' (repeatable)" },
      include: { short: "i", summary: "print status and headers before the body" },
      output: { placeholder: "FILE", short: "o", completes: "file", summary: "write the body to FILE as it is" },
      request: { placeholder: "METHOD", short: "X", summary: "method (GET, or POST with --data)" }
    },
    operands: { placeholder: "PATH", maximum: 1 },
    examples: ["/data-access/consumers/42", "-X PUT -d @body.json --fail /furnishment/submissions/7"]
  },
  exec: {
    summary: "run a program with the token in CREDIT_DATA_ACCESS_TOKEN",
    options: { ...connected, auth, cache },
    operands: { placeholder: "-- PROGRAM [ARGUMENT...]", maximum: Infinity, isProgram: true },
    examples: ["-- ./import.sh", "--variables .env -- node import.js"]
  },
  status: {
    summary: "show the cached token's life and its scopes; sends nothing",
    options: { auth, json, profile, "secret-command": secretCommand, variables },
    examples: ["", "--json"]
  },
  profiles: {
    summary: "list the profiles with client ids and hosts; runs nothing",
    options: { json, names: { summary: "print the names only" } },
    examples: ["", "--json"]
  },
  completions: {
    summary: "print the completions for a shell",
    options: {},
    operands: { placeholder: shells.join("|"), maximum: 1, values: shells },
    examples: ["bash >> ~/.bash_completion", "fish | source"]
  }
} as const satisfies Record<string, Specification>

export type Name = keyof typeof commands

/** What was given to the command of this name. */
export type Invocation<N extends Name> = InvocationOf<(typeof commands)[N]>

export const isShell = (text: string | undefined): text is (typeof shells)[number] =>
  shells.some((shell) => shell === text)

export const isName = (text: string | undefined): text is Name => text !== undefined && Object.hasOwn(commands, text)

export const names: ReadonlyArray<Name> = Object.keys(commands).filter(isName)

/** The specification of a command, for code that treats all commands alike. */
export const specificationOf = (name: Name): Specification => commands[name]

/** The options of a command in the order in which people look for them. */
export const optionsOf = (name: Name): ReadonlyArray<readonly [name: string, option: Option]> => [
  ...Object.entries(specificationOf(name).options).toSorted(([a], [b]) => a < b ? -1 : 1),
  ["help", { short: "h", summary: "show this help" }]
]
