import { SimulatorConsole } from "@credit-data/simulator"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { send } from "../src/client.ts"
import { simulated } from "../src/console.ts"

it.effect("the page of the console has at most 26 KiB, and needs nothing from another server", () =>
  Effect.gen(function*() {
    const { url } = yield* SimulatorConsole.SimulatorConsole
    const { body } = yield* send(url)
    assert.isAtMost(Buffer.byteLength(body), 26 * 1024)
    assert.isNull(/https?:\/\//.exec(body))
    assert.notInclude(body, "innerHTML")
  }).pipe(Effect.provide(simulated)))

/** A schema of an OpenAPI document. */
interface Node {
  readonly properties?: Readonly<Record<string, Node>>
  readonly anyOf?: ReadonlyArray<Node>
  readonly enum?: ReadonlyArray<string>
}

it.effect("the form of the console has every fault of the admin API, and every field of each", () =>
  Effect.gen(function*() {
    const { url } = yield* SimulatorConsole.SimulatorConsole
    const { body: page } = yield* send(url)
    const [, form = ""] = /<form id=fault>(.*?)<\/form>/.exec(page) ?? []
    const document: { readonly components: { readonly schemas: { readonly NewFault: Node; readonly Fault: Node } } } =
      JSON
        .parse((yield* send(`${url}/api/v1/openapi.json`)).body)
    const { Fault, NewFault } = document.components.schemas
    const names = Object.keys(NewFault.properties ?? {})
    assert.includeMembers(names, ["target", "times", "method", "path", "headers", "percent"])
    for (const name of names.filter((name) => name !== "fault")) assert.match(form, new RegExp(` name=${name}[ >]`))
    const kinds = Fault.anyOf ?? []
    assert.isAtLeast(kinds.length, 7)
    for (const { properties: { _tag, ...fields } = {} } of kinds) {
      const kind = _tag?.enum?.[0] ?? ""
      assert.include(page, `"${kind}"`)
      const labels = [...form.matchAll(/<label data-for=(?:"([^"]*)"|(\w+))>(.*?)<\/label>/g)]
        .filter(([, several = "", one]) => [...several.split(" "), one].includes(kind))
        .map(([label]) => label)
      assert.deepStrictEqual(
        labels.flatMap((label) => / name=fault\.(\w+)/.exec(label)?.[1] ?? []).toSorted(),
        Object.keys(fields).toSorted(),
        kind
      )
    }
  }).pipe(Effect.provide(simulated)))
