import * as Schema from "effect/Schema"

// The JSON that the commands print, for scripts. A field may be added to a version. Any other change is another version.

const version = Schema.Literal(1)

/** An instant in both forms. */
const Instant = Schema.Struct({ iso: Schema.String, epochSeconds: Schema.Int })

/** `token --output json` */
export const Token = Schema.Struct({
  version,
  /** `<hidden>` on a terminal, unless `--show-token` is given. */
  accessToken: Schema.String,
  tokenType: Schema.Literal("Bearer"),
  scopes: Schema.Array(Schema.String),
  requestedAt: Instant,
  expiresAt: Instant
})

/** `doctor --json` */
export const Doctor = Schema.Struct({
  version,
  /** No step has failed. */
  ok: Schema.Boolean,
  steps: Schema.Array(Schema.Struct({
    name: Schema.String,
    result: Schema.Literal("ok", "warning", "failed", "skipped"),
    detail: Schema.String,
    /** What to do, if there is something to do. */
    advice: Schema.Array(Schema.String),
    /** What else is worth knowing: where the variables come from. */
    notes: Schema.Array(Schema.String),
    millis: Schema.Int
  }))
})

/** A token of one version, or why there was none. */
const Facts = Schema.Union(
  Schema.Struct({
    lifetimeSeconds: Schema.Number,
    scopes: Schema.Array(Schema.String),
    missingScopes: Schema.Array(Schema.String)
  }),
  Schema.Struct({ error: Schema.String, message: Schema.String })
)

/** The response to a probe, or why there was none. `null` without a token. */
const ProbeOutcome = Schema.NullOr(
  Schema.Union(Schema.Struct({ status: Schema.Int }), Schema.Struct({ error: Schema.String }))
)

/** `compare --json` */
export const Compare = Schema.Struct({
  version,
  verdict: Schema.Literal("Ready", "ReadyWithoutRollback", "Unproven", "NotReady"),
  problems: Schema.Array(Schema.Struct({ type: Schema.String, message: Schema.String })),
  v1: Facts,
  v2: Facts,
  probes: Schema.Array(Schema.Struct({
    method: Schema.Literal("GET", "HEAD", "OPTIONS"),
    path: Schema.String,
    v1: ProbeOutcome,
    v2: ProbeOutcome,
    /** `null` without two responses. */
    sameBody: Schema.NullOr(Schema.Boolean)
  }))
})

/** `status --json` */
export const Status = Schema.Struct({
  version,
  scopes: Schema.Array(Schema.String),
  requestedAt: Instant,
  expiresAt: Instant,
  leftSeconds: Schema.Int,
  /** The last renewal has failed: with this error, which other commands with `--cache` get until this instant. */
  failure: Schema.NullOr(Schema.Struct({ error: Schema.String, message: Schema.String, until: Instant }))
})

const Host = Schema.NullOr(Schema.String)

/** `profiles --json` */
export const Profiles = Schema.Struct({
  version,
  file: Schema.String,
  profiles: Schema.Array(Schema.Struct({
    name: Schema.String,
    /** `null` if the profile does not have it. */
    clientId: Schema.NullOr(Schema.String),
    /** `null` for an address that the profile does not have, or that is malformed. */
    hosts: Schema.Struct({ api: Host, authV1: Host, authV2: Host })
  }))
})
