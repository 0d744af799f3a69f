/** What Stryker found in a file. */
export interface Measured {
  readonly date: string
  readonly killed: number
  /** The mutants with which a test takes too long. */
  readonly timedOut: number
  /** Survivors that `equivalent.ts` lists. */
  readonly equivalent: number
  /** The other survivors: their line, what it is, and what replaces it. */
  readonly survivors: ReadonlyArray<string>
}

const sum = (numbers: ReadonlyArray<number>) => numbers.reduce((total, each) => total + each, 0)

/** The table of all packages, and the score of one in percent. */
export const table = (scores: Readonly<Record<string, Measured>>) => {
  const of = (name: string) =>
    Object.entries(scores).filter(([file]) => file.startsWith(`packages/${name}/`)).map(([, each]) => each)
  const survivors = (name: string) => sum(of(name).map((each) => each.survivors.length))
  const timedOut = (name: string) => sum(of(name).map((each) => each.timedOut))
  const killed = (name: string) => sum(of(name).map((each) => each.killed))
  const score = (name: string) => {
    const dead = killed(name) + timedOut(name)
    return dead + survivors(name) === 0 ? 100 : 100 * dead / (dead + survivors(name))
  }
  const rows = [...new Set(Object.keys(scores).map((file) => file.split("/")[1] ?? ""))].map((name) => {
    const date = of(name).map(({ date }) => date).toSorted().at(-1)
    return `| ${name} | ${killed(name)} | ${timedOut(name)} | ${survivors(name)} | ${
      sum(of(name).map((each) => each.equivalent))
    } | ${score(name).toFixed(1)} % | ${date} |`
  })
  const left = Object.entries(scores).filter(([, each]) => each.survivors.length > 0).flatMap(([file, each]) => [
    `### ${file}`,
    "",
    "```text",
    ...each.survivors,
    "```",
    ""
  ])
  const markdown = [
    "# Mutation scores",
    "",
    "Stryker changes one expression of the sources at a time. The mutant is killed if a test of its package fails, and times out if a test takes",
    "too long. The score is the share of these two, without mutants that [change nothing](equivalent.ts). `run mutation` writes this page.",
    "",
    "| package | killed | timed out | survived | equivalent | score | measured on |",
    "| --- | --- | --- | --- | --- | --- | --- |",
    ...rows,
    "",
    "## Survivors",
    "",
    ...left
  ].join("\n")
  return { markdown, score }
}
