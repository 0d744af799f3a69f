// D: the stages of a migration, in the order of `Plan.Stage`.

import { box, picture, text, width } from "./drawing.ts"

const stages = [
  { name: "v1", v1: "in use", v2: "" },
  { name: "shadow", v1: "in use", v2: "only tried" },
  { name: "v2", v1: "", v2: "in use" }
]

export const migration = (): string => {
  const left = 14
  const gap = 22
  const column = (width - 2 * left - 2 * gap) / 3
  const from = (index: number) => left + index * (column + gap)
  const bar = (x: number, y: number, name: string, use: string) => [
    box(x + 10, x + column - 10, y, 28, use === "in use" ? "ours" : use === "" ? "quiet" : "soft"),
    text(x + column / 2, y + 19, use === "" ? `${name} not used` : `${name} ${use}`, {
      of: use === "in use" ? "small white" : "small",
      anchor: "middle"
    })
  ]
  return picture(
    "The stages of a migration: with v1, calls use V1 tokens. With shadow, they use V1 tokens, and V2 tokens are only tried. With v2, they use V2 " +
      "tokens. The plan goes from stage to stage, and back.",
    188,
    [
      ...stages.flatMap(({ name, v1, v2 }, index) => {
        const x = from(index)
        return [
          box(x + 0.5, x + column - 0.5, 14.5, 112, "outline"),
          text(x + column / 2, 36, name, { of: "strong", anchor: "middle" }),
          ...bar(x, 48, "V1", v1),
          ...bar(x, 86, "V2", v2)
        ]
      }),
      ...[0, 1].flatMap((index) => {
        const x = from(index) + column + gap / 2
        return [text(x, 68, "→", { of: "strong", anchor: "middle" }), text(x, 92, "←", { of: "dim", anchor: "middle" })]
      }),
      text(left, 152, "→  next stage: change the plan", { of: "small" }),
      text(left, 174, "←  roll back: change the plan back", { of: "small dim" })
    ]
  )
}
