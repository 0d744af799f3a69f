import { Migration, Plan } from "@credit-data/migration"
import { HttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"

const complete = {
  CREDIT_DATA_AUTH: "v1",
  CREDIT_DATA_ENVIRONMENT: "test",
  CREDIT_DATA_AUDIENCE: "audience",
  CREDIT_DATA_BASE_URL: "https://api.example",
  CREDIT_DATA_AUTH_V1_URL: "https://v1.example",
  CREDIT_DATA_AUTH_V2_URL: "https://v2.example",
  CREDIT_DATA_CLIENT_ID: "the-client",
  CREDIT_DATA_CLIENT_SECRET: "a secret canary",
  CREDIT_DATA_SCOPES: "furnishment:all"
}

const withVariables = (variables: Record<string, string>) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  effect.pipe(Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(variables)))))

const plan = (variables: Record<string, string>) => withVariables(variables)(Plan.read)

const built = (variables: Record<string, string>) =>
  Layer.build(
    Migration.layerConfig().pipe(
      Layer.provide(Layer.succeed(HttpClient.HttpClient, HttpClient.make(() => Effect.never)))
    )
  ).pipe(Effect.scoped, withVariables(variables))

describe("the variables of a migration", () => {
  it.effect("choose the stage", () =>
    Effect.gen(function*() {
      for (const stage of ["v1", "shadow", "v2"] as const) {
        assert.deepStrictEqual(yield* plan({ CREDIT_DATA_AUTH: stage }), { stage })
      }
    }))

  it.effect("are refused if they name a fallback, with what replaces it", () =>
    Effect.gen(function*() {
      for (const value of ["v1", "none"]) {
        const variables = { ...complete, CREDIT_DATA_AUTH: "v2", CREDIT_DATA_AUTH_FALLBACK: value }
        for (const error of [yield* Effect.flip(plan(variables)), yield* Effect.flip(built(variables))]) {
          assert.match(String(error), /- CREDIT_DATA_AUTH_FALLBACK: Expected no fallback: .* stage shadow .* compare/)
        }
      }
    }))

  it.effect("have errors that name the accepted values, and not the wrong one", () =>
    Effect.gen(function*() {
      const stage = String(yield* Effect.flip(plan({ CREDIT_DATA_AUTH: "a canary" })))
      assert.include(stage, "CREDIT_DATA_AUTH: Expected v1 or shadow or v2")
      assert.notInclude(stage, "canary")
    }))

  it.effect("must name the stage, because without it a program would move to Auth V2 at once", () =>
    Effect.gen(function*() {
      const { CREDIT_DATA_AUTH: _, ...others } = complete
      for (const error of [yield* Effect.flip(plan(others)), yield* Effect.flip(built(others))]) {
        assert.include(String(error), "- CREDIT_DATA_AUTH is missing: the stage of the migration, v1 or shadow or v2")
      }
    }))

  it.effect("must be complete for both versions", () =>
    Effect.gen(function*() {
      yield* built(complete)
      const { CREDIT_DATA_AUTH_V1_URL: _, CREDIT_DATA_SCOPES: __, ...others } = complete
      const error = String(yield* Effect.flip(built({ ...others, CREDIT_DATA_AUTH: "v3" })))
      for (const name of ["CREDIT_DATA_AUTH_V1_URL", "CREDIT_DATA_SCOPES", "CREDIT_DATA_AUTH"]) {
        assert.include(error, `- ${name}`)
      }
      assert.notInclude(error, "canary")
    }))
})
