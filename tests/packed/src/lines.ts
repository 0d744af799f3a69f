/** A version or a range for each package. */
export type Versions = Readonly<Record<string, string>>

/** The name of a runtime, and the command that runs a file on it. */
export type Runtime = readonly [name: string, command: readonly [string, ...ReadonlyArray<string>]]

/** A line: the packages for one major version of Effect. */
export interface Line {
  readonly name: string
  /** The folder with the packages. */
  readonly packages: string
  /** The folder with the program of a new user. */
  readonly project: string
  /** The lowest versions of the peers that the packages accept, with the peers of @effect/platform-node. */
  readonly lowest: Versions
  /** The peers of @effect/platform-node that the packages do not have themselves. */
  readonly askedFor: Versions
  /** The largest allowed ratio of a bundle with tokens to a bundle without tokens. */
  readonly bundleBar: number
  /** The runtime on which the program always runs. */
  readonly runtime: Runtime
  /** The runtimes on which the program also runs with `--all`. */
  readonly otherRuntimes: ReadonlyArray<Runtime>
}

const byNpx = (name: string, program: string, ...args: ReadonlyArray<string>): Runtime => [
  name,
  ["npx", "-y", program, ...args]
]
const newer = [
  byNpx("Node 22", "node@22"),
  byNpx("Node 24", "node@24"),
  byNpx("Node 26", "node@26"),
  byNpx("Bun", "bun@1"),
  byNpx("Deno", "deno@2", "run", "--allow-all")
]

export const effect3 = (root: string): Line => ({
  name: "Effect 3",
  packages: `${root}/packages`,
  project: `${root}/tests/packed/project`,
  // below @effect/platform 0.96.2 its client over fetch sends a content-length that a newer undici refuses
  lowest: {
    effect: "3.21.4",
    "@effect/platform": "0.96.2",
    "@effect/platform-node": "0.107.0",
    "@effect/cluster": "0.59.0",
    "@effect/experimental": "0.60.0",
    "@effect/rpc": "0.75.1",
    "@effect/sql": "0.51.1",
    "@effect/workflow": "0.18.2",
    ioredis: "5.9.0"
  },
  askedFor: { "@effect/cluster": "*", "@effect/rpc": "*", "@effect/sql": "*" },
  bundleBar: 1.26,
  runtime: [`Node ${process.versions.node}`, [process.execPath]],
  otherRuntimes: [byNpx("Node 20", "node@20"), ...newer]
})

export const effect4 = (root: string): Line => ({
  name: "Effect 4",
  packages: `${root}/effect-4/generated/packages`,
  project: `${root}/effect-4/generated/tests/packed/project`,
  lowest: { effect: "4.1.0", "@effect/platform-node": "4.1.0", ioredis: "5.9.0" },
  askedFor: {},
  // these packages are smaller than on Effect 3, and Effect is smaller too
  bundleBar: 1.37,
  runtime: byNpx("Node 24", "node@24"),
  otherRuntimes: newer
})
