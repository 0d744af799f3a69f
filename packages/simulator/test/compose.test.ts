import { Simulator } from "@credit-data/simulator"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { parse } from "yaml"

const file = fileURLToPath(new URL("../../../examples/compose.yaml", import.meta.url))
const { app, simulator } = parse(readFileSync(file, "utf8")).services
const build = join(dirname(file), simulator.build)
const dockerfile = readFileSync(join(build, "Dockerfile"), "utf8")

describe("compose.yaml", () => {
  it("starts the simulator with its profile only, and the application when the simulator is healthy", () => {
    assert.deepStrictEqual([simulator.profiles, app.profiles], [["simulator"], ["simulator"]])
    assert.deepStrictEqual(app.depends_on, { simulator: { condition: "service_healthy" } })
    assert.match(dockerfile, /^HEALTHCHECK /m)
  })

  it("publishes the four ports of the image to this machine only, and the image listens on all its addresses", () => {
    const first = /^ENV SIMULATOR_PORT=(\d+)$/m.exec(dockerfile)?.[1]
    const ports = `${first}-${Number(first) + 3}`
    assert.deepStrictEqual(simulator.ports, [`127.0.0.1:${ports}:${ports}`])
    assert.include(dockerfile, `\nEXPOSE ${ports}\n`)
    assert.include(dockerfile, `\nCMD ["--host", "0.0.0.0"]\n`)
  })

  it.effect("gives the application what the simulator prints, with the name of its container", () =>
    Effect.gen(function*() {
      const printed = yield* Simulator.variables
      const ports: Readonly<Record<string, string>> = {
        CREDIT_DATA_BASE_URL: `http://${simulator.hostname}:7400`,
        CREDIT_DATA_AUTH_V2_URL: `http://${simulator.hostname}:7402`
      }
      const { CREDIT_DATA_SCOPES: scopes, ...others } = app.environment
      assert.includeMembers(String(printed["CREDIT_DATA_SCOPES"]).split(" "), scopes.split(" "))
      for (const [name, value] of Object.entries<string>(others)) {
        assert.strictEqual(value, ports[name] ?? printed[name], name)
      }
      const [source, target] = app.volumes[0].split(":")
      assert.isTrue(existsSync(join(dirname(file), source)))
      assert.deepStrictEqual(app.command, ["python", target])
    }).pipe(Effect.provide(Simulator.layer())))
})
