import { startNginx } from "@credit-data/test-support/nginx"
import { HttpClientRequest } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { withDataAccess } from "../src/clients.ts"
import { bodies, forwarded, isReceived, isSendable, methods } from "../src/framing.ts"
import { keeping } from "../src/transports.ts"

const rows = methods.flatMap((method) =>
  forwarded.flatMap((headers) => bodies.map((body) => ({ method, headers, body })))
)

describe.each(keeping({ maxSockets: 1 }))("nginx, over %s", (name, transport) => {
  it.scopedLive(
    "logs one request for each call, whatever its method, its body and its forwarded headers",
    () =>
      Effect.gen(function*() {
        const { lines, url } = yield* startNginx
        const expected: Array<string> = []
        const broken = new Set<string>()
        yield* withDataAccess(url, transport, (client) =>
          Effect.forEach(
            rows.filter(({ body }) => isSendable(name, body)),
            ({ body, headers, method }) =>
              Effect.gen(function*() {
                const path = `/${expected.length}`
                const request = HttpClientRequest.make(method)(path, { body: body.body(), headers })
                yield* client.execute(request).pipe(
                  Effect.tap(({ text }) => Effect.ignore(text)),
                  Effect.timeout("5 seconds"),
                  Effect.exit
                )
                yield* Effect.flatMap(client.get(`/next-${path.slice(1)}`), ({ text }) => text)
                if (isReceived(name, method, body)) expected.push(`${method} ${path} 200`)
                else broken.add(`${method} ${path} 400`)
                expected.push(`GET /next-${path.slice(1)} 200`)
              })
          ))
        // nginx responds with 400 to an upload that breaks off
        const complete = Effect.map(lines, (all) => all.filter((line) => !broken.has(line)))
        yield* Effect.repeat(complete, {
          until: (all) => all.length >= expected.length,
          schedule: Schedule.spaced("20 millis")
        }).pipe(Effect.timeout("5 seconds"))
        assert.deepStrictEqual(yield* complete, expected)
      }),
    120_000
  )
})
