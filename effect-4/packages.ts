/** What is written for Effect 4: add a package by naming it. */
export const folders = [
  "packages/core",
  "packages/auth-v1",
  "packages/auth-v2",
  "packages/http-client",
  "packages/fleet",
  "packages/promise",
  "packages/simulator",
  "packages/store-redis",
  "packages/telemetry",
  "tests/support",
  "tests/integration",
  "benchmarks/src/line",
  "examples",
  "tests/packed/project"
]

interface Manifest {
  readonly name: string
  readonly version: string
  readonly dependencies?: Record<string, string>
  readonly devDependencies?: Record<string, string>
  readonly peerDependencies?: Record<string, string>
  readonly engines?: Record<string, string>
  readonly publishConfig?: Record<string, unknown>
  readonly scripts?: unknown
}

/** Part of `effect` since Effect 4, or needed only by the platform of Effect 3. */
const gone = /^@effect\/(platform|cluster|experimental|opentelemetry|rpc|sql|workflow)$/

export const withoutGone = (versions: Record<string, string> = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(versions).filter(([name]) => !gone.test(name)))

/** The second version line is one major version ahead. */
export const versionOf = (version: string): string => version.replace(/^\d+/, (major) => String(Number(major) + 1))

/** The package.json of a package for Effect 4. */
export const manifest = (original: Manifest): Manifest => {
  const { dependencies, devDependencies, engines, peerDependencies, publishConfig, scripts: _scripts, ...others } =
    original
  const { tag: _, ...publish } = publishConfig ?? {}
  return {
    ...others,
    version: versionOf(original.version),
    ...(dependencies && { dependencies: withoutGone(dependencies) }),
    // Effect 3 has fast-check in it
    ...(devDependencies && { devDependencies: { ...withoutGone(devDependencies), "fast-check": "catalog:" } }),
    ...(peerDependencies && { peerDependencies: withoutGone(peerDependencies) }),
    // @effect/platform-node 4 needs this version
    ...(engines &&
      {
        engines: "@effect/platform-node" in { ...dependencies, ...peerDependencies } ? { node: ">=22.19.0" } : engines
      }),
    ...(publishConfig && { publishConfig: publish })
  }
}
