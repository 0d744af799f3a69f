import { Fault, Simulator } from "@credit-data/simulator"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { act, events, read, Test } from "../support/admin.ts"
import { form, formV1, get, newToken, post, sendText } from "../support/http.ts"

describe("secrets and tokens", () => {
  it.effect("are in no response and in no event, wherever a client put them", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      const token = yield* newToken
      const tokenV1 = String((yield* post("V1", formV1)).body["access_token"])
      yield* act("/api/v1/fixtures", {
        path: "/data-access/fixture",
        headers: { "x-mine": token },
        body: form.client_secret
      })
      const basic = Buffer.from(`simulated-client:${form.client_secret}`).toString("base64")
      yield* post("V2", { ...form, client_secret: "the-real-secret" })
      yield* post("V2", { ...form, client_id: "the-real-secret" })
      yield* post("V2", form, { headers: { "x-password": "the-real-secret", "x-jwt": "the-real-secret" } })
      const { environment } = simulator
      yield* sendText(`${environment.authV2Url}/oauth2/token?client_secret=the-real-secret&the-real-secret`)
      const everyByte = (text: string) => text.replaceAll(/./g, (byte) => `%${byte.charCodeAt(0).toString(16)}`)
      const hex = (text: string) => Buffer.from(text).toString("hex")
      const encoded = [token, tokenV1, form.client_secret].flatMap((text) => [
        everyByte(text),
        hex(text),
        hex(text).toUpperCase(),
        Buffer.from(`x:${text}`).toString("base64"),
        text.replaceAll(/[.-]/g, (sign) => `\\u00${hex(sign)}`)
      ])
      yield* Effect.forEach(encoded, (text) => get(`/data-access/${text}`, undefined, { headers: { "x-mine": text } }))
      yield* post("V2", JSON.stringify({ client_secret: "the-real-secret" }))
      yield* post("V2", form, { headers: { "content-type": "text/plain", "x-api-key": "the-real-secret" } })
      yield* get(`/data-access/${token}?client_secret=${form.client_secret}`, token)
      yield* get("/data-access/a", undefined, { headers: { "x-mine": `Basic ${basic}`, cookie: `token=${token}` } })
      yield* get("/data-access/a", undefined, {
        method: "POST",
        body: JSON.stringify({ token, secret: form.client_secret })
      })
      // in JSON, and in JSON that is a text in JSON
      yield* Effect.forEach([token, tokenV1, form.client_secret, ...encoded], (text) =>
        get("/furnishment/a", token, {
          method: "POST",
          body: JSON.stringify({ list: [{ text }, JSON.stringify({ text })] })
        }))
      yield* simulator.rotateSecret
      const { clientSecret } = yield* simulator.credentials
      yield* post("V2", { ...form, client_secret: Redacted.value(clientSecret), other: Redacted.value(clientSecret) })

      yield* act("/api/v1/faults", {
        target: "Calls",
        fault: {
          _tag: "Response",
          status: 503,
          headers: { "x-mine": token, [token]: "", [form.client_secret]: "" },
          body: form.client_secret
        }
      })

      // the first call gets the fault
      for (const path of ["a", "fixture", token]) {
        const headers = { authorization: `Bearer ${token}` }
        yield* sendText(`${environment.baseUrl}/data-access/${path}`, { headers })
      }
      yield* simulator.failTokenRequests(
        Fault.Response({
          status: 200,
          headers: { "x-mine": form.client_secret, "set-cookie": "session=the-real-secret" },
          body: "{\"access_token\":\"the-real-secret\",\"the-real-secret\":1}"
        })
      )
      yield* post("V2", form)
      yield* simulator.failTokenRequests(Fault.Response({ status: 200, body: "{\"access_token\":\"the-real-secret" }))
      yield* sendText(`${environment.authV2Url}/oauth2/token`, { method: "POST", body: new URLSearchParams(form) })
      yield* post("V2", "the-real-secret=1&the-real-secret=2&clientSecret=the-real-secret")
      const everyId = (yield* simulator.received).map(({ id }) => `/api/v1/requests/${id}`)

      const lists = ["state", "requests", "tokens", "search?text="].map((name) => `/api/v1/${name}`)
      const paths = ["/", ...lists, ...everyId]
      const seen = yield* Effect.forEach(paths, (path) => read(path))
      const all = [...seen.map(({ text }) => text), JSON.stringify(yield* events(20))].join("\n")
      assert.include(all, "client_secret=***")
      for (
        const canary of [
          token,
          tokenV1,
          form.client_secret,
          Redacted.value(clientSecret),
          "the-real-secret",
          basic.slice(24, 60),
          ...encoded
        ]
      ) {
        assert.notInclude(all, canary)
      }
    }).pipe(Effect.provide(Test)))
})
