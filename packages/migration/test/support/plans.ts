import type { AccessToken, TokenError } from "@credit-data/core"
import type { Plan } from "@credit-data/migration"
import { Cause, Exit, Option } from "effect"
import { textOf } from "./versions.ts"

export const v1: Plan.Plan = { stage: "v1", fallback: false }
export const shadow: Plan.Plan = { stage: "shadow", fallback: false }
export const v2: Plan.Plan = { stage: "v2", fallback: false }
export const fallback: Plan.Plan = { stage: "v2", fallback: true }

/** The text of the token that a caller got, or the tag of its failure. */
export const outcomeOf = (outcome: Exit.Exit<AccessToken.AccessToken, TokenError.TokenError>) =>
  Exit.match(outcome, {
    onFailure: (cause) =>
      Option.match(Cause.failureOption(cause), { onNone: () => "defect", onSome: ({ _tag }) => _tag }),
    onSuccess: textOf
  })
