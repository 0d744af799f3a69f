import { freePorts } from "@credit-data/test-support/freePorts"
import { startRedis } from "@credit-data/test-support/redisServer"
import { Effect, Schedule } from "effect"
import { readFileSync } from "node:fs"

/** Retries until it works, for 25 seconds. */
export const eventually = <A, E>(effect: Effect.Effect<A, E>) =>
  effect.pipe(
    Effect.sandbox,
    Effect.retry(Schedule.spaced("100 millis")),
    Effect.timeout("25 seconds"),
    Effect.orDie
  )

const acl = readFileSync(new URL("../../acl.conf", import.meta.url), "utf8").split("\n").filter((line) =>
  line.startsWith("user credit-data")
)

/** Three nodes with all slots. */
export const startCluster = Effect.gen(function*() {
  const nodes = yield* Effect.forEach([0, 1, 2], () =>
    Effect.gen(function*() {
      const bus = yield* freePorts(1)
      // the default user is for the commands that make the cluster
      const settings = ["cluster-enabled yes", `cluster-port ${bus}`, ...acl]
      return { bus, ...(yield* startRedis({ settings })) }
    }))
  for (const [index, node] of nodes.entries()) {
    const range = [[0, 5460], [5461, 10_922], [10_923, 16_383]][index] ?? []
    yield* node.command(`CLUSTER ADDSLOTSRANGE ${range.join(" ")}`)
    for (const { bus, port } of nodes) yield* node.command(`CLUSTER MEET 127.0.0.1 ${port} ${bus}`)
  }
  for (const node of nodes) {
    yield* eventually(
      Effect.filterOrFail(node.command("CLUSTER INFO"), (info) => info.includes("cluster_state:ok"))
    )
  }
  return { nodes, url: `redis://credit-data:change-me@127.0.0.1:${nodes[0]?.port}` }
})

export type Node = Effect.Effect.Success<typeof startCluster>["nodes"][number]

/** The node with the entry's slot, another node, and the commands that let the slot move from one to the other. */
export const moveSlot = Effect.fnUntraced(function*(nodes: ReadonlyArray<Node>, entry: string) {
  const idOf = (node: Node) => Effect.map(node.command("CLUSTER MYID"), (id) => id.split("\r\n")[1] ?? "")
  const [first] = nodes
  const slot = Number(
    (yield* (first ?? (yield* Effect.die(new Error("No nodes.")))).command(`CLUSTER KEYSLOT {${entry}}`)).trim().slice(
      1
    )
  )
  const owner = slot <= 5460 ? 0 : slot <= 10_922 ? 1 : 2
  const [source, target] = [nodes[owner], nodes[(owner + 1) % 3]]
  if (source === undefined || target === undefined) return yield* Effect.die(new Error("Three nodes are needed."))
  const [from, to] = [yield* idOf(source), yield* idOf(target)]
  return {
    source,
    target,
    begin: Effect.zipRight(
      target.command(`CLUSTER SETSLOT ${slot} IMPORTING ${from}`),
      source.command(`CLUSTER SETSLOT ${slot} MIGRATING ${to}`)
    ),
    end: Effect.zipRight(
      target.command(`CLUSTER SETSLOT ${slot} NODE ${to}`),
      source.command(`CLUSTER SETSLOT ${slot} NODE ${to}`)
    )
  }
})
