import * as AccessScope from "@credit-data/core/AccessScope"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { Service } from "../Simulator.ts"

/** The variables that lead a program to a simulator, with its secret in clear. */
export const variables = (simulator: Service): Effect.Effect<ReadonlyArray<readonly [name: string, value: string]>> =>
  Effect.map(simulator.credentials, ({ clientId, clientSecret }) => [
    ["CREDIT_DATA_ENVIRONMENT", simulator.environment.name],
    ["CREDIT_DATA_AUDIENCE", simulator.environment.audience],
    ["CREDIT_DATA_BASE_URL", simulator.environment.baseUrl],
    ["CREDIT_DATA_AUTH_V1_URL", simulator.environment.authV1Url],
    ["CREDIT_DATA_AUTH_V2_URL", simulator.environment.authV2Url],
    ["CREDIT_DATA_CLIENT_ID", clientId],
    ["CREDIT_DATA_CLIENT_SECRET", Redacted.value(clientSecret)],
    ["CREDIT_DATA_SCOPES", AccessScope.all.join(" ")]
  ])
