import * as Arr from "effect/Array"
import type * as ConfigError from "effect/ConfigError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { flow } from "effect/Function"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as configuration from "./configuration.ts"
import { groups } from "./groups.ts"

// The rules for variables and options. An error names the variable or option and never shows its value.

export type Parsed<A> = configuration.Parsed<A>

type Checked<A> = Either.Either<A, ConfigError.ConfigError>

/** Adds the name of the checked option to the error. */
export const at = (...path: ReadonlyArray<string>) => <A>(parsed: Parsed<A>): Checked<A> =>
  Either.mapLeft(parsed, (reason) => configuration.invalid(path, reason))

type Values<Fields> = { [Name in keyof Fields]: Fields[Name] extends Checked<infer A> ? A : never }

/** The checked options, or one error with all problems. */
export function struct<Fields extends Record<string, Checked<unknown>>>(fields: Fields): Checked<Values<Fields>>
export function struct(fields: Record<string, Checked<unknown>>): Checked<object> {
  return Arr.match(Arr.getLefts(Object.values(fields)), {
    onEmpty: () => Either.all(fields),
    onNonEmpty: (errors) => Either.left(configuration.together(errors))
  })
}

/** The checked options as an effect. */
export const all = <Fields extends Record<string, Checked<unknown>>>(
  fields: Fields
): Effect.Effect<Values<Fields>, ConfigError.ConfigError> =>
  Either.match(struct(fields), { onLeft: Effect.fail, onRight: Effect.succeed })

/** Text with at least one visible character, and without characters that cannot be printed or encoded. */
export const text = (value: unknown): Parsed<string> =>
  !Predicate.isString(value)
    ? Either.left("Expected text")
    : /^[\s\p{Cf}]*$/u.test(value)
    ? Either.left("Expected non-empty text")
    : /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]|^[\p{Cf}\p{DI}]|[\p{Cf}\p{DI}]$/u.test(value)
    ? Either.left(
      "Expected text without line breaks, control characters, or invisible characters at its ends, such as a byte order mark"
    )
    : Either.right(value)

/** Text without spaces at its ends: they are invisible, and never part of an identifier. */
export const identifier = (value: unknown): Parsed<string> =>
  Either.filterOrLeft(
    text(value),
    (text) => text === text.trim(),
    () => "Expected text without leading or trailing spaces"
  )

/** A file that contains a secret usually ends with one line break, which is not part of the secret. */
export const clientSecret: (value: unknown) => Parsed<Redacted.Redacted> = flow(
  (value) => Predicate.isString(value) ? value.replace(/\r?\n$/, "") : value,
  text,
  Either.map((text) => Redacted.make(text))
)

export { isQuoted } from "./configuration.ts"

/** A finite duration above zero. */
export const duration = (input: Duration.DurationInput): Parsed<Duration.Duration> => {
  const decoded = Option.filter(Duration.decodeUnknown(input), Duration.isFinite)
  return Option.isSome(decoded) && Duration.greaterThan(decoded.value, Duration.zero)
    ? Either.right(decoded.value)
    : Either.left("Expected a finite duration above zero")
}

/** The scopes of all groups, in the order of the contract. */
export const allScopes = Arr.map(groups, ({ scope }) => scope)

/** Each scope once, in the order of the contract. */
export const scopes = (names: unknown): Parsed<Arr.NonEmptyReadonlyArray<typeof allScopes[number]>> => {
  const given = new Set<unknown>(Predicate.isIterable(names) ? names : [])
  const refused = Either.left(`Expected one or more of ${allScopes.join(", ")}, separated by spaces`)
  return Arr.match(allScopes.filter((scope) => given.has(scope)), {
    onEmpty: () => refused,
    onNonEmpty: (known) => known.length === given.size ? Either.right(known) : refused
  })
}

/** Whether a host is this machine only. The host of a URL has brackets around an address of IPv6. */
export const isLoopback = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i.test(host)

/**
 * Checks the address of a server to which a secret or a token may be sent: over TLS, or in clear text to this machine only
 * (contract, section 2). User information, a query and a fragment are refused, because they would be sent or logged. The address
 * is returned without a slash at its end.
 */
export const secureUrl = (value: unknown): Parsed<string> => {
  if (!Predicate.isString(value)) return Either.left("Expected an absolute URL")
  // an invisible character would be the reason
  if (!URL.canParse(value)) return Either.flatMap(text(value), () => Either.left("Expected an absolute URL"))
  const url = new URL(value)
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback(url.hostname))) {
    return Either.left("Expected https (http only for localhost, 127.0.0.0/8 and [::1])")
  }
  if (url.username !== "" || url.password !== "") return Either.left("Expected a URL without user information")
  if (/[?#]/.test(value)) return Either.left("Expected a URL without a query or a fragment")
  return Either.right(url.href.replace(/\/+$/, ""))
}

/** Checks an address to which the program adds a path. Users sometimes set the whole address by mistake. */
export const withoutPath = (path: `/${string}`) => (value: unknown): Parsed<string> =>
  Either.filterOrLeft(secureUrl(value), (url) => !url.endsWith(path), () => `Expected the address without ${path}`)

interface Credentials {
  readonly clientId: string
  readonly clientSecret: Redacted.Redacted
}

/** Drops one line break at the end of the secret. */
export const credentials = (given: Credentials): Checked<Credentials> =>
  // an effect without types may have returned anything
  Predicate.isRecord(given)
    ? struct({
      clientId: at("credentials", "clientId")(identifier(given.clientId)),
      clientSecret: at("credentials", "clientSecret")(
        Redacted.isRedacted(given.clientSecret)
          ? clientSecret(Redacted.value(given.clientSecret))
          : Either.left("Expected a Redacted value")
      )
    })
    : at("credentials")(Either.left("Expected a client id and secret"))

/** Removes slashes from the end of the base URL. Each adapter checks its own authorization server's address. */
export const environment = (
  given: { readonly name: string; readonly audience: string; readonly baseUrl: string }
) => ({
  name: at("environment", "name")(text(given.name)),
  audience: at("environment", "audience")(identifier(given.audience)),
  baseUrl: at("environment", "baseUrl")(secureUrl(given.baseUrl))
})
