import { run } from "@credit-data/test-support/childProcess"
import { files } from "@credit-data/tools/telemetry/files"
import { FileSystem } from "@effect/platform"
import { NodeContext, NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { type Labels, startAlertmanager } from "../src/alertmanager.ts"

const configuration = `route: { receiver: none, group_wait: 0s }
receivers: [{ name: none }]
${readFileSync(files.inhibition, "utf8")}`

const of = (alertname: string, more: Labels): Labels => ({
  alertname,
  job: "service",
  namespace: "x",
  tenant: "a",
  credit_data_environment: "sandbox",
  credit_data_client_id: "acme",
  credit_data_version: "V2",
  server_address: "v2.example",
  severity: "critical",
  ...more
})
const refused = (more: Labels = {}) => of("CreditDataClientRefused", more)
const noToken = (more: Labels = {}) => of("CreditDataNoToken", { instance: "a", error_type: "InvalidClient", ...more })

/** Which of the alerts Alertmanager keeps silent, by their labels. */
const silent = Effect.fnUntraced(
  function*(alerts: ReadonlyArray<Labels>) {
    const { alerts: all, raise } = yield* startAlertmanager(configuration)
    yield* raise(alerts)
    return (yield* all(alerts.length)).filter(({ status }) => status.inhibitedBy.length > 0).map(({ labels }) => labels)
  },
  Effect.scoped,
  Effect.provide(NodeHttpClient.layer)
)

describe("the rule for Alertmanager", () => {
  it.effect("is valid", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const file = yield* fs.makeTempFileScoped()
      yield* fs.writeFileString(file, configuration)
      const { exitCode, stdout } = yield* run(["amtool", "check-config", file])
      assert.strictEqual(exitCode, 0, stdout)
      assert.include(stdout, "1 inhibit rules")
    }).pipe(Effect.scoped, Effect.provide(NodeContext.layer)))

  it.live(
    "keeps CreditDataNoToken silent for the client that is refused, and for no other",
    () =>
      Effect.gen(function*() {
        const others = [
          noToken({ tenant: "b" }),
          noToken({ namespace: "y" }),
          noToken({ credit_data_client_id: "other" }),
          noToken({ server_address: "v1.example" }),
          noToken({ error_type: "TransportError" })
        ]
        const replicas = [noToken(), noToken({ instance: "b" })]
        const kept = yield* silent([refused(), ...replicas, ...others])
        assert.sameDeepMembers(kept, replicas)
      }),
    30_000
  )

  it.live("keeps CreditDataNoToken silent for programs without tenants and namespaces", () =>
    Effect.gen(function*() {
      const plain = (labels: Labels): Labels =>
        Object.fromEntries(Object.entries(labels).filter(([name]) => name !== "namespace" && name !== "tenant"))
      assert.deepStrictEqual(yield* silent([plain(refused()), plain(noToken())]), [plain(noToken())])
    }), 30_000)
})
