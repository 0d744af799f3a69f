import { HttpApi, HttpApiEndpoint, HttpApiError, HttpApiGroup } from "@effect/platform"
import { Schema } from "effect"

/** What the service returns about a consumer. */
export class Consumer extends Schema.Class<Consumer>("Consumer")({
  id: Schema.String,
  path: Schema.String
}) {}

export const ServiceApi = HttpApi.make("service").add(
  HttpApiGroup.make("consumers").add(
    HttpApiEndpoint.get("read", "/consumers/:id")
      .setPath(Schema.Struct({ id: Schema.String.pipe(Schema.pattern(/^\w+$/)) }))
      .addSuccess(Consumer)
      .addError(
        Schema.Union(HttpApiError.NotFound, HttpApiError.ServiceUnavailable, HttpApiError.InternalServerError)
      )
  )
)
