// C: the steps of a shutdown within the manifest's `terminationGracePeriodSeconds`, with the durations of the page about deployment.

import { box, line, picture, text, width } from "./drawing.ts"

const grace = 45
const steps = [
  { from: 0, to: 15, of: "other", name: "preStop", what: ["sleeps; traffic moves", "to other pods"] },
  { from: 15, to: 35, of: "ours", name: "server", what: ["answers open requests,", "which can get tokens"] },
  { from: 35, to: 45, of: "soft", name: "rest", what: ["supply and", "exporter close"] }
]

export const shutdown = (): string => {
  const left = 16
  const at = (second: number) => left + second * (width - 2 * left) / grace
  return picture(
    `A shutdown in ${grace} seconds: for 15 seconds preStop sleeps, while traffic moves to other pods. After SIGTERM, the server finishes its open ` +
      "requests for at most 20 seconds, and they can still get tokens. In the rest, the token supply and the exporter close. Then SIGKILL.",
    158,
    [
      text(at(15), 26, "SIGTERM", { of: "small strong", anchor: "middle" }),
      line(at(15), 32, at(15), 82),
      text(at(grace), 26, "SIGKILL", { of: "small strong", anchor: "end" }),
      line(at(grace), 32, at(grace), 82),
      ...steps.flatMap(({ from, name, of, to, what }) => [
        box(at(from) + 1, at(to) - 1, 40, 34, of),
        text((at(from) + at(to)) / 2, 62, name, { of: of === "soft" ? "small" : "small white", anchor: "middle" }),
        ...what.map((words, row) => text(at(from) + 2, 122 + row * 18, words, { of: "small dim" }))
      ]),
      ...[0, 15, 35, grace].map((second) =>
        text(at(second), 98, `${second} s`, {
          of: "small dim",
          anchor: second === 0 ? "start" : second === grace ? "end" : "middle"
        })
      )
    ]
  )
}
