import { assert, it } from "@effect/vitest"
import { errors } from "./programs/failures.ts"

it("no error has a field that Express, Fastify or Koa would respond with to a service's own callers", () => {
  for (const error of errors) {
    for (const field of ["status", "statusCode", "expose", "headers"]) {
      assert.isFalse(field in error, `${error._tag} has ${field}`)
    }
  }
})
