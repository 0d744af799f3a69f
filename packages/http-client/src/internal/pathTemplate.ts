import * as Context from "effect/Context"
import * as Option from "effect/Option"

/** The path template of the calls in this context, such as `/consumers/{id}`. */
export class PathTemplate
  extends Context.Reference<PathTemplate>()("@credit-data/http-client/GroupClient/PathTemplate", {
    defaultValue: (): Option.Option<string> => Option.none()
  })
{}
