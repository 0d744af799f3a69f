import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens, ClientCredentials } from "@credit-data/core"
import { DataAccess } from "@credit-data/http-client"
import * as ChangingVariables from "@credit-data/test-support/changingVariables"
import { runs } from "@credit-data/test-support/searches"
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import {
  type ConfigProvider,
  Context,
  Effect,
  Exit,
  FastCheck as fc,
  Fiber,
  Layer,
  LayerMap,
  Logger,
  Option,
  Redacted,
  Scope
} from "effect"
import { granted } from "../src/servers.ts"

/** The service: the present secret of each client, and what it received. Its tokens contain the id of their client. */
const makeService = () => {
  const secrets = new Map<string, string>()
  const received = { secrets: new Array<string>(), calls: new Array<string>() }
  const respond = (url: URL, body: string, authorization: string) => {
    if (url.pathname !== "/oauth2/token") {
      received.calls.push(authorization.replace("Bearer token-of-", ""))
      return new Response()
    }
    const form = new URLSearchParams(body)
    const [id, secret] = [form.get("client_id") ?? "", form.get("client_secret") ?? ""]
    received.secrets.push(`${url.host} ${secret}`)
    return secrets.get(id) === secret
      ? Response.json({ ...granted(0), access_token: `token-of-${id}` })
      : Response.json({ error: "invalid_client" }, { status: 401 })
  }
  const client = HttpClient.make((request) =>
    Effect.sync(() => {
      const body = request.body._tag === "Uint8Array" ? new TextDecoder().decode(request.body.body) : ""
      const response = respond(new URL(request.url), body, request.headers["authorization"] ?? "")
      return HttpClientResponse.fromWeb(request, response)
    })
  )
  let rotations = 0
  const rotate = (id: string): string => {
    const secret = `secret ${++rotations} of ${id}`
    secrets.set(id, secret)
    return secret
  }
  return {
    Http: Layer.succeed(HttpClient.HttpClient, client),
    received,
    rotate,
    secretOf: (id: string) => secrets.get(id) ?? ""
  }
}

type World = ReturnType<typeof makeService>

/** Variables of a client, which can become those of another one. */
const makeVariables = ({ secretOf }: World, first: string) => {
  const variablesOf = (id: string) => ({ CREDIT_DATA_CLIENT_ID: id, CREDIT_DATA_CLIENT_SECRET: secretOf(id) })
  const { provider, set } = ChangingVariables.make({
    CREDIT_DATA_ENVIRONMENT: "sandbox",
    CREDIT_DATA_AUDIENCE: "audience",
    CREDIT_DATA_BASE_URL: "https://api.sandbox.example",
    CREDIT_DATA_AUTH_V2_URL: "https://auth.sandbox.example",
    CREDIT_DATA_SCOPES: "data-access:all",
    ...variablesOf(first)
  })
  return { provider, set, become: (id: string) => set(variablesOf(id)) }
}

class Vault
  extends Context.Tag("Vault")<Vault, { readonly read: Effect.Effect<ClientCredentials.ClientCredentials> }>()
{}

/** A secret manager with the credentials of a client, which can become those of another one. */
const makeVault = ({ secretOf }: World, first: string) => {
  let id = first
  const read = Effect.sync(() => ({ clientId: id, clientSecret: Redacted.make(secretOf(id)) }))
  return {
    service: { read },
    become: (next: string) => {
      id = next
    }
  }
}

const fromVault = ClientCredentials.from(Vault, ({ read }) => read)

/** A use of a layer, which ends when its scope closes. */
const begin = Effect.fnUntraced(function*<E, R>(layer: Layer.Layer<AccessTokens.AccessTokens, E, R>, { Http }: World) {
  const scope = yield* Scope.make()
  const clients = DataAccess.layer().pipe(Layer.provideMerge(layer), Layer.provide(Http))
  const context = yield* Scope.extend(Layer.build(clients), scope)
  return {
    tokens: Context.get(context, AccessTokens.AccessTokens),
    call: Context.get(context, DataAccess.DataAccess).get("/data-access/consumers/42"),
    end: Scope.close(scope, Exit.void)
  }
})

/** Two tenants that begin with the default client, of which the first then gets its own. Returns whose tokens are sent. */
const firstTenantMoves = Effect.fnUntraced(function*(
  world: World,
  tenants: ReadonlyArray<Effect.Effect.Success<ReturnType<typeof begin>>>,
  become: (id: string) => void
) {
  for (const { call } of tenants) yield* call
  become("own")
  yield* tenants[0]?.tokens.refresh ?? Effect.void
  for (const { call } of tenants) yield* call
  return world.received.calls.splice(0)
})

const defaults = () => {
  const world = makeService()
  for (const id of ["default", "own", "other"]) world.rotate(id)
  return world
}

const quiet = Effect.provide(Logger.remove(Logger.defaultLogger))

describe("two tenants that use one layer const and begin with the same credentials", () => {
  it.effect("never send each other's token, where each has its variables", () =>
    Effect.gen(function*() {
      const world = defaults()
      const Auth = AuthV2.layerConfig()
      const variables = [makeVariables(world, "default"), makeVariables(world, "default")]
      const tenants = yield* Effect.forEach(
        variables,
        ({ provider }) => begin(Auth, world).pipe(Effect.withConfigProvider(provider))
      )
      const sent = yield* firstTenantMoves(world, tenants, (id) => variables[0]?.become(id))
      assert.deepStrictEqual(sent, ["default", "default", "own", "default"])
    }).pipe(quiet))

  it.effect("never send each other's token, where each has its secret manager", () =>
    Effect.gen(function*() {
      const world = defaults()
      const { provider } = makeVariables(world, "default")
      const Auth = AuthV2.layerConfig({ credentials: fromVault })
      const vaults = [makeVault(world, "default"), makeVault(world, "default")]
      const tenants = yield* Effect.forEach(
        vaults,
        ({ service }) =>
          begin(Auth, world).pipe(Effect.withConfigProvider(provider), Effect.provideService(Vault, service))
      )
      const sent = yield* firstTenantMoves(world, tenants, (id) => vaults[0]?.become(id))
      assert.deepStrictEqual(sent, ["default", "default", "own", "default"])
    }).pipe(quiet))

  it.scoped("never send each other's token, where a LayerMap gives each its mounted files", () =>
    Effect.gen(function*() {
      const world = defaults()
      const Auth = AuthV2.layerConfig()
      const variables = new Map(["a", "b"].map((tenant) => [tenant, makeVariables(world, "default")] as const))
      const providerOf = (tenant: string): ConfigProvider.ConfigProvider =>
        variables.get(tenant)?.provider ?? assert.fail(`no tenant ${tenant}`)
      const map = yield* LayerMap.make((tenant: string) =>
        Auth.pipe(Layer.provide([Layer.setConfigProvider(providerOf(tenant)), world.Http]))
      )
      const tenants = yield* Effect.forEach(["a", "b"], (tenant) => begin(map.get(tenant), world))
      const sent = yield* firstTenantMoves(world, tenants, (id) => variables.get("a")?.become(id))
      assert.deepStrictEqual(sent, ["default", "default", "own", "default"])
    }).pipe(quiet))

  it.effect("each send their own token after both have left a trial client", () =>
    Effect.gen(function*() {
      const world = defaults()
      const Auth = AuthV2.layerConfig()
      const variables = [makeVariables(world, "default"), makeVariables(world, "default")]
      const tenants = yield* Effect.forEach(
        variables,
        ({ provider }) => begin(Auth, world).pipe(Effect.withConfigProvider(provider))
      )
      for (const { call } of tenants) yield* call
      for (const [index, id] of ["own", "other"].entries()) {
        variables[index]?.become(id)
        yield* tenants[index]?.tokens.refresh ?? Effect.void
      }
      for (const { call } of tenants) yield* call
      assert.deepStrictEqual(world.received.calls, ["default", "default", "own", "other"])
    }).pipe(quiet))
})

describe("one supply", () => {
  it.effect("re-reads a rotated secret after the use that built it has ended, and with it its own services", () =>
    Effect.gen(function*() {
      const world = defaults()
      const { provider } = makeVariables(world, "default")
      const Auth = AuthV2.layerConfig({ credentials: fromVault })
      /** A secret manager that can be read until its use ends. */
      const withVault = Effect.gen(function*() {
        let isOpen = true
        const { service } = makeVault(world, "default")
        const read = Effect.suspend(() => isOpen ? service.read : Effect.die(new Error("the vault is closed")))
        const use = yield* begin(Auth, world).pipe(
          Effect.withConfigProvider(provider),
          Effect.provideService(Vault, { read })
        )
        return { ...use, end: Effect.zipRight(Effect.sync(() => void (isOpen = false)), use.end) }
      })
      const [first, second] = [yield* withVault, yield* withVault]
      yield* first.call
      yield* first.end
      world.rotate("default")
      yield* second.tokens.refresh
      yield* second.call
      assert.deepStrictEqual(world.received.calls, ["default", "default"])
    }).pipe(quiet))

  it.effect("refuses variables that have become those of another environment, as a whole, and says so", () =>
    Effect.gen(function*() {
      const world = defaults()
      const lines: Array<string> = []
      const { become, provider, set } = makeVariables(world, "default")
      const Auth = AuthV2.layerConfig()
      const build = begin(Auth, world).pipe(
        Effect.withConfigProvider(provider),
        Effect.provide(
          Logger.replace(Logger.defaultLogger, Logger.make(({ message }) => void lines.push(String(message))))
        )
      )
      const use = yield* build
      yield* use.call
      become("own")
      set({
        CREDIT_DATA_ENVIRONMENT: "production",
        CREDIT_DATA_AUTH_V2_URL: "https://auth.example",
        CREDIT_DATA_BASE_URL: "https://api.example"
      })
      yield* use.tokens.refresh
      yield* use.call
      const sandbox = `auth.sandbox.example ${world.secretOf("default")}`
      assert.deepStrictEqual(world.received.secrets, [sandbox, sandbox])
      assert.deepStrictEqual(world.received.calls, ["default", "default"])
      const line = lines.find((line) => line.startsWith("The client credentials of")) ?? ""
      assert.include(
        line,
        "Expected the same environment, baseUrl, authorizationServer as when the layer was built. Build the layer"
      )
      assert.notInclude(line, "example")
      yield* use.end
      yield* (yield* build).call
      assert.strictEqual(world.received.secrets.at(-1), `auth.example ${world.secretOf("own")}`)
    }))

  it.effect("gives an effect of credentials no service that it does not name", () =>
    Effect.gen(function*() {
      const world = defaults()
      const seen: Array<boolean> = []
      const credentials = Effect.flatMap(Effect.serviceOption(Vault), (vault) =>
        Effect.sync(() => {
          seen.push(vault._tag === "Some")
          return { clientId: "default", clientSecret: Redacted.make(world.secretOf("default")) }
        }))
      const use = yield* begin(AuthV2.layerConfig({ credentials }), world).pipe(
        Effect.withConfigProvider(makeVariables(world, "default").provider),
        Effect.provideService(Vault, makeVault(world, "default").service)
      )
      yield* use.tokens.refresh
      assert.deepStrictEqual(seen, [false, false])
    }).pipe(quiet))
})

it.live("a build settles when its scope closes while the credentials are read", () =>
  Effect.gen(function*() {
    const world = defaults()
    const credentials = Effect.delay(
      Effect.sync(() => ({ clientId: "default", clientSecret: Redacted.make(world.secretOf("default")) })),
      "100 millis"
    )
    for (const end of [Exit.void, Exit.fail("the program fails")]) {
      const scope = yield* Scope.make()
      const Auth = AuthV2.layerConfig({ credentials }).pipe(Layer.provide(world.Http))
      const building = yield* Effect.fork(
        Layer.buildWithScope(Auth, scope).pipe(Effect.withConfigProvider(makeVariables(world, "default").provider))
      )
      yield* Effect.sleep("20 millis")
      yield* Scope.close(scope, end)
      assert.isTrue(Option.isSome(yield* Effect.timeoutOption(Fiber.await(building), "5 seconds")), "settles")
    }
  }).pipe(quiet))

const clients = ["trial", "own", "other"] as const
const client = fc.constantFrom(...clients)
const source = fc.nat(2)
const action = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ what: fc.constant("begin" as const), variables: source, vault: fc.option(source) })
  },
  {
    weight: 2,
    arbitrary: fc.record({
      what: fc.constant("begin and interrupt" as const),
      variables: source,
      vault: fc.option(source),
      turns: fc.nat(12)
    })
  },
  { weight: 2, arbitrary: fc.record({ what: fc.constant("end" as const), use: fc.nat() }) },
  { weight: 6, arbitrary: fc.record({ what: fc.constant("call" as const), use: fc.nat() }) },
  { weight: 4, arbitrary: fc.record({ what: fc.constant("refresh" as const), use: fc.nat() }) },
  { weight: 3, arbitrary: fc.record({ what: fc.constant("variables become" as const), variables: source, client }) },
  { weight: 3, arbitrary: fc.record({ what: fc.constant("vault becomes" as const), vault: source, client }) },
  { weight: 2, arbitrary: fc.record({ what: fc.constant("rotate" as const), client }) }
)

type Action = typeof action extends fc.Arbitrary<infer A> ? A : never

/** A place from which a layer reads, the client that it names now, and all that it has named. */
interface Place {
  readonly become: (id: string) => void
  readonly named: Array<string>
}

/** Runs a walk: nobody ever sends a token of a client that its own place has not named, and what reads from the same objects is one supply. */
const walk = Effect.fnUntraced(function*(actions: ReadonlyArray<Action>) {
  const world = makeService()
  for (const id of clients) world.rotate(id)
  const variables = [0, 1, 2].map(() => ({ ...makeVariables(world, "trial"), named: ["trial"] }))
  const vaults = [0, 1, 2].map(() => ({ ...makeVault(world, "trial"), named: ["trial"] }))
  const OfVariables = AuthV2.layerConfig()
  const OfVault = AuthV2.layerConfig({ credentials: fromVault })
  const uses: Array<
    Effect.Effect.Success<ReturnType<typeof begin>> & { readonly place: Place; readonly from: string }
  > = []
  const at = <A>(list: ReadonlyArray<A>, index: number): A => list[index % list.length] ?? assert.fail("no such place")
  const beginAt = (variable: number, vault: number | null) => {
    const { provider } = at(variables, variable)
    return vault === null
      ? begin(OfVariables, world).pipe(Effect.withConfigProvider(provider))
      : begin(OfVault, world).pipe(
        Effect.withConfigProvider(provider),
        Effect.provideService(Vault, at(vaults, vault).service)
      )
  }
  const become = (place: Place, id: string) => {
    place.become(id)
    place.named.push(id)
  }
  for (const action of actions) {
    switch (action.what) {
      case "begin": {
        const place = action.vault === null ? at(variables, action.variables) : at(vaults, action.vault)
        uses.push({
          ...yield* beginAt(action.variables, action.vault),
          place,
          from: `${action.variables} ${action.vault}`
        })
        break
      }
      case "begin and interrupt": {
        const beginning = yield* Effect.fork(Effect.scoped(beginAt(action.variables, action.vault)))
        for (let turn = 0; turn < action.turns; turn++) yield* Effect.yieldNow()
        yield* Fiber.interrupt(beginning)
        break
      }
      case "end":
        if (uses.length > 0) yield* uses.splice(action.use % uses.length, 1)[0]?.end ?? Effect.void
        break
      case "call":
      case "refresh": {
        if (uses.length === 0) break
        const { call, place, tokens } = at(uses, action.use)
        if (action.what === "refresh") yield* Effect.exit(tokens.refresh)
        const outcome = yield* Effect.exit(call)
        if (Exit.isSuccess(outcome)) assert.include(place.named, world.received.calls.at(-1))
        break
      }
      case "variables become":
        become(at(variables, action.variables), action.client)
        break
      case "vault becomes":
        become(at(vaults, action.vault), action.client)
        break
      case "rotate":
        world.rotate(action.client)
        for (const place of [...variables, ...vaults]) {
          if (place.named.at(-1) === action.client) place.become(action.client)
        }
    }
    for (const one of uses) {
      for (const other of uses) assert.strictEqual(one.tokens === other.tokens, one.from === other.from)
    }
  }
  for (const { end } of uses) yield* end
})

it.live("no walk of uses, changed credentials, rotations and interrupted builds sends another tenant's token", () =>
  Effect.promise(() =>
    fc.assert(
      fc.asyncProperty(
        fc.array(action, { minLength: 5, maxLength: 40, size: "max" }),
        (actions) => Effect.runPromise(quiet(walk(actions)))
      ),
      runs(60)
    )
  ))
