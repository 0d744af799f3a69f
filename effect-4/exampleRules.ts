// What the examples and the code of the documentation need beside `rules.ts`. The packages do not use these names.

/** Members that have another name. */
export const members: Readonly<Record<string, string>> = {
  "Config.nonEmptyString": "Config.NonEmptyString",
  "Config.url": "Config.URL",
  "Effect.tapErrorCause": "Effect.tapCause",
  "HttpApiBuilder.Router.use": "HttpRouter.use"
}

/** Expressions of another shape. */
export const patterns: ReadonlyArray<readonly [pattern: string, replacement: string]> = [
  ["({ path: { id } }) => $BODY", "({ params: { id } }) => $BODY"],
  ["api.consumers.read({ path: $PARAMS })", "api.consumers.read({ params: $PARAMS })"],
  [
    "Effect.catchTags({ $$$TOKEN, RequestError: $REQUEST, ResponseError: $RESPONSE })",
    "Effect.catchTags({\n    $$$TOKEN,\n    HttpClientError: (error) => Effect.succeed(`no response to the call: ${error.message}`)\n  })"
  ],
  // Node runs TypeScript
  ["[\"--import\", \"tsx\", $FILE]", "[$FILE]"],
  ["Config.literal($A, $B)($NAME)", "Config.Literals([$A, $B], $NAME)"],
  ["DateTime.distanceDuration($FROM, $TO)", "DateTime.distance($FROM, $TO)"],
  ["Effect.ignoreLogged($EFFECT)", "Effect.ignore($EFFECT, { log: true })"],
  [
    "HttpApiBuilder.serve().pipe(HttpServer.withLogAddress, Layer.provide([Routes, Closing]), Layer.provide(HttpApiBuilder.api($API)), $$$OTHERS)",
    "HttpRouter.serve(Layer.mergeAll(HttpApiBuilder.layer($API), Routes, Closing), { disableLogger: true }).pipe($$$OTHERS)"
  ],
  ["HttpApiBuilder.middleware($MIDDLEWARE)", "HttpRouter.middleware($MIDDLEWARE, { global: true })"],
  [
    "HttpMiddleware.withTracerDisabledWhen($WHEN)",
    "Layer.provide(Layer.succeed(HttpMiddleware.TracerDisabledWhen, $WHEN))"
  ],
  [
    "HttpRouter.empty.pipe(HttpRouter.get($PATH, $FIRST), HttpRouter.get($OTHER, $SECOND))",
    "HttpRouter.addAll([HttpRouter.route(\"GET\", $PATH, $FIRST), HttpRouter.route(\"GET\", $OTHER, $SECOND)])"
  ],
  ["Logger.json", "Logger.layer([Logger.consoleJson])"],
  [
    "NodeRuntime.runMain({ disableErrorReporting: true, disablePrettyLogger: true })",
    "NodeRuntime.runMain({ disableErrorReporting: true })"
  ],
  [
    "PlatformConfigProvider.layerFileTreeAdd({ rootDirectory: $FOLDER })",
    "ConfigProvider.layerAdd(ConfigProvider.fromDir({ rootPath: $FOLDER }))"
  ],
  ["router.get($PATH, $HANDLER)", "router.add(\"GET\", $PATH, $HANDLER)"],
  ["Stream.runFold($STREAM, $ZERO, $NEXT)", "Stream.runFold($STREAM, () => $ZERO, $NEXT)"]
]
