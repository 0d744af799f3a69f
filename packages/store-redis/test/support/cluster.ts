import { freePorts } from "@credit-data/test-support/freePorts"
import { startRedis } from "@credit-data/test-support/redisServer"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { eventually } from "./store.ts"
import { type makeLocalhost, writeCertificate } from "./tls.ts"

/** The user that the store needs. */
export const acl = readFileSync(new URL("../../acl.conf", import.meta.url), "utf8").split("\n").filter((line) =>
  line.startsWith("user credit-data")
)

/** Three nodes with all slots. With TLS, they have a certificate for this host name and no address, and their own ports for it. */
export const startCluster = Effect.fnUntraced(function*(tls?: Effect.Effect.Success<typeof makeLocalhost>) {
  const files = tls === undefined ? undefined : yield* writeCertificate(tls)
  const nodes = yield* Effect.forEach([0, 1, 2], () =>
    Effect.gen(function*() {
      const [bus, tlsPort] = [yield* freePorts(1), yield* freePorts(1)]
      const withTls = files === undefined ? [] : [
        `tls-port ${tlsPort}`,
        ...files,
        "tls-auth-clients no",
        // the nodes know the ports of each other for TLS only if they use it too
        "tls-cluster yes",
        `cluster-announce-hostname ${tls?.host}`,
        "cluster-preferred-endpoint-type hostname"
      ]
      // the default user is for the commands that make the cluster
      const settings = ["cluster-enabled yes", `cluster-port ${bus}`, ...acl, ...withTls]
      return { bus, tlsPort, ...(yield* startRedis({ settings })) }
    }))
  for (const [index, node] of nodes.entries()) {
    const range = [[0, 5460], [5461, 10_922], [10_923, 16_383]][index] ?? []
    yield* node.command(`CLUSTER ADDSLOTSRANGE ${range.join(" ")}`)
    for (const { bus, port, tlsPort } of nodes) {
      yield* node.command(`CLUSTER MEET 127.0.0.1 ${tls === undefined ? port : tlsPort} ${bus}`)
    }
  }
  for (const node of nodes) {
    yield* eventually(
      Effect.filterOrFail(node.command("CLUSTER INFO"), (info) => info.includes("cluster_state:ok"))
    )
  }
  return { nodes, url: `redis://credit-data:change-me@127.0.0.1:${nodes[0]?.port}` }
})

export type Node = Effect.Effect.Success<ReturnType<typeof startCluster>>["nodes"][number]

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
    /** The slot belongs to this node then. */
    end: (owner: Node) =>
      Effect.flatMap(
        idOf(owner),
        (id) => Effect.forEach([target, source], (node) => node.command(`CLUSTER SETSLOT ${slot} NODE ${id}`))
      )
  }
})
