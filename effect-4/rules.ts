// What differs between Effect 3 and Effect 4, as far as a rule can say it. What needs a hand is in `overrides`.

import core from "../packages/core/package.json" with { type: "json" }
import { versionOf } from "./packages.ts"

/** Members that have another name, in types and in values. */
export const members: Readonly<Record<string, string>> = {
  "it.scopedLive": "it.live",
  "it.scoped": "it.effect",
  "TestServices.provideLive": "TestClock.withLive",
  "TestClock.currentTimeMillis": "Clock.currentTimeMillis",
  "Scope.CloseableScope": "Scope.Closeable",
  "Scope.extend": "Scope.provide",
  "NodeContext.layer": "NodeServices.layer",
  "NodeHttpClient.makeAgentLayer": "NodeHttpClient.layerAgentOptions",
  "NodeHttpClient.layerWithoutAgent": "NodeHttpClient.layerNodeHttpNoAgent",
  "NodeHttpClient.layerUndiciWithoutDispatcher": "NodeHttpClient.layerUndiciNoDispatcher",
  "NodeHttpClient.layer": "NodeHttpClient.layerNodeHttp",
  "FiberRef.currentLoggers": "References.CurrentLoggers",
  "FiberRef.currentTracerEnabled": "References.TracerEnabled",
  "Effect.withFiberRuntime": "Effect.withFiber",
  "HttpClient.currentTracerDisabledWhen": "HttpClient.TracerDisabledWhen",
  "Effect.locally": "Effect.provideService",
  "Context.Tag": "Context.Key",
  "Effect.either": "Effect.result",
  "Cause.isInterruptedOnly": "Cause.hasInterruptsOnly",
  "Arr.getLefts": "Arr.getFailures",
  "Cause.failureOption": "Cause.findErrorOption",
  "Cause.isDie": "Cause.hasDies",
  "ConfigError.ConfigError": "Config.ConfigError",
  "Duration.DurationInput": "Duration.Input",
  "Duration.decode": "Duration.fromInputUnsafe",
  "Effect.async": "Effect.callback",
  "Effect.clock": "Clock.Clock",
  "Effect.forkDaemon": "Effect.forkDetach",
  "Effect.intoDeferred": "Deferred.into",
  "Effect.fork": "Effect.forkChild",
  "Effect.mapInputContext": "Effect.updateContext",
  "Effect.zipRight": "Effect.andThen",
  "Effect.timeoutFail": "Effect.timeoutOrElse",
  "Either.Either": "Result.Result",
  "Either.filterOrLeft": "Result.filterOrFail",
  "Either.isLeft": "Result.isFailure",
  "Either.left": "Result.fail",
  "Either.mapLeft": "Result.mapError",
  "Either.right": "Result.succeed",
  "Exit.isInterrupted": "Exit.hasInterrupts",
  "Fiber.RuntimeFiber": "Fiber.Fiber",
  "Effect.Effect.Context": "Effect.Services",
  "Tenants.Default": "Tenants.layer",
  "Option.fromNullable": "Option.fromNullishOr",
  "Predicate.isNullable": "Predicate.isNullish",
  "Predicate.isRecord": "Predicate.isObject",
  "Metric.taggedWithLabels": "Metric.withAttributes",
  "Random.nextRange": "Random.nextBetween",
  "Schema.decodeUnknownEither": "Schema.decodeUnknownResult",
  "Schema.DateTimeUtc": "Schema.DateTimeUtcFromString"
}

/** Members whose names changed alike. A member with its own rule is left out. */
export const families: ReadonlyArray<readonly [from: RegExp, to: (...parts: ReadonlyArray<string>) => string]> = [
  [/^Either(?=\.\w+$)/, () => "Result"],
  [/^(DateTime|Duration)\.([gl])(?=\w+Than)/, (_, module, first = "") => `${module}.is${first.toUpperCase()}`],
  // what Effect 4 calls `currentTimeNanos` is the time of the day
  [/\.currentTimeNanos$/, () => ".monotonicTimeNanos"],
  [/\.unsafeCurrentTimeNanos$/, () => ".monotonicTimeNanosUnsafe"],
  [/\.unsafe([A-Z])(\w+)$/, (_, first = "", rest) => `.${first.toLowerCase()}${rest}Unsafe`],
  [/^(Config|Effect)\.\1\.(?=Error|Success)/, (_, module) => `${module}.`],
  [/^Config\.([prs])(?=ort$|edacted$|tring$)/, (_, initial = "") => `Config.${initial.toUpperCase()}`],
  [/^Effect\.catchAll/, () => "Effect.catch"],
  [/^HttpClientError\.Re(quest|sponse)Error$/, () => "HttpClientError.HttpClientError"],
  [/^Layer\.scoped/, () => "Layer.effect"],
  [/^Schema\.(decode|decodeUnknown|encode)$/, (name) => `${name}Effect`],
  [/\.unwrap(Effect|Scoped)$/, () => ".unwrap"]
]

/** Expressions of another shape. `$A` is one node, `$$$A` any number. */
export const patterns: ReadonlyArray<readonly [pattern: string, replacement: string]> = [
  [
    "class $NAME extends Context.Key($ID)<$SELF, $SERVICE>() {}",
    "class $NAME extends Context.Service<$SELF, $SERVICE>()($ID) {}"
  ],
  [
    "class $NAME extends Context.Reference<$SELF>()($ID, $OPTIONS) {}",
    "const $NAME = Context.Reference($ID, $OPTIONS)"
  ],
  ["Duration.decodeUnknown($INPUT)", "Duration.fromInput($INPUT)"],
  ["Effect.configProviderWith(Effect.succeed)", "ConfigProvider.ConfigProvider"],
  ["Effect.withClock($CLOCK)", "Effect.provideService(Clock.Clock, $CLOCK)"],
  ["Layer.locallyEffect(Effect.withConfigProvider($PROVIDER))", "Layer.provide(ConfigProvider.layer($PROVIDER))"],
  ["Effect.withConfigProvider($PROVIDER)", "Effect.provideService(ConfigProvider.ConfigProvider, $PROVIDER)"],
  [
    "{ [Clock.ClockTypeId]: Clock.ClockTypeId, unsafeCurrentTimeMillis: $WALL, unsafeCurrentTimeNanos: $MONOTONIC, currentTimeMillis: $MILLIS, currentTimeNanos: $NANOS, $$$SLEEP }",
    "{ currentTimeMillisUnsafe: $WALL, monotonicTimeNanosUnsafe: $MONOTONIC, currentTimeMillis: $MILLIS, monotonicTimeNanos: $NANOS, " +
    "currentTimeNanosUnsafe: () => BigInt(Math.round(($WALL)() * 1e6)), currentTimeNanos: Effect.map($MILLIS, (now) => BigInt(Math.round(now * 1e6))), $$$SLEEP }"
  ],
  ["globalValue($KEY, $MAKE)", "($MAKE)()"],
  [
    "Result.match($EITHER, { onLeft: $LEFT, onRight: $RIGHT })",
    "Result.match($EITHER, { onFailure: $LEFT, onSuccess: $RIGHT })"
  ],
  ["fiber.getFiberRef($REF)", "fiber.getRef($REF)"],
  ["fiber.currentContext", "fiber.context"],
  ["{ kind: $KIND, captureStackTrace: false, $$$AFTER }", "{ kind: $KIND, $$$AFTER }"],
  ["ConfigProvider.orElse($FIRST, () => $SECOND)", "ConfigProvider.orElse($FIRST, $SECOND)"],
  ["HashSet.make($LOGGER)", "new Set([$LOGGER])"],
  ["Cause.pretty($CAUSE, $OPTIONS)", "Cause.pretty($CAUSE)"],
  ["options.annotations", "options.fiber.getRef(References.CurrentLogAnnotations)"],
  // an endpoint is one call, which gets a further field from each method
  ["HttpApiEndpoint.$METHOD($NAME, $PATH)", "HttpApiEndpoint.$METHOD($NAME, $PATH, {})"],
  ["$API.addError($ERROR, { status: $STATUS })", "$API.addError($ERROR.annotate({ httpApiStatus: $STATUS }))"],
  ["$MAKE($NAME, $PATH, { $$$FIELDS }).setPath($IT)", "$MAKE($NAME, $PATH, { $$$FIELDS, params: $IT })"],
  ["$MAKE($NAME, $PATH, { $$$FIELDS }).setUrlParams($IT)", "$MAKE($NAME, $PATH, { $$$FIELDS, query: $IT })"],
  ["$MAKE($NAME, $PATH, { $$$FIELDS }).setPayload($IT)", "$MAKE($NAME, $PATH, { $$$FIELDS, payload: $IT })"],
  ["$MAKE($NAME, $PATH, { $$$FIELDS }).addSuccess($IT)", "$MAKE($NAME, $PATH, { $$$FIELDS, success: $IT })"],
  [
    "$MAKE($NAME, $PATH, { $$$FIELDS }).addError(Schema.Union($$$IT))",
    "$MAKE($NAME, $PATH, { $$$FIELDS, error: [$$$IT] })"
  ],
  ["$MAKE($NAME, $PATH, { $$$FIELDS }).addError($IT)", "$MAKE($NAME, $PATH, { $$$FIELDS, error: $IT })"],
  [
    "class $NAME extends HttpApiMiddleware.Tag<$SELF>()($ID, { failure: $ERROR, security: $SECURITY }) {}",
    "class $NAME extends HttpApiMiddleware.Service<$SELF>()($ID, { error: $ERROR, security: $SECURITY }) {}"
  ],
  [
    "$API.annotate(OpenApi.Version, $VERSION)",
    "$API.annotate(OpenApi.Version, $VERSION).annotate(HttpApi.PayloadParseOptions, { onExcessProperty: \"error\" })"
  ],
  ["HttpApiSchema.annotations({ status: $STATUS })", "{ httpApiStatus: $STATUS }"],
  ["$SCHEMA.annotations($ANNOTATIONS)", "$SCHEMA.annotate($ANNOTATIONS)"],
  [
    "Schema.optionalWith($SCHEMA, { default: () => $DEFAULT })",
    "$SCHEMA.pipe(Schema.withDecodingDefaultKey(Effect.succeed($DEFAULT)))"
  ],
  ["Cookies.get($COOKIES, $NAME)", "Cookies.get(Cookies.fromIterable($COOKIES), $NAME)"],
  [
    "ConfigProvider.fromMap($VARIABLES)",
    "ConfigProvider.fromUnknown(Object.fromEntries($VARIABLES), { preserveEmptyStrings: true })"
  ],
  [
    "HttpClient.withTracerDisabledWhen($WHEN)",
    "HttpClient.transformResponse(Effect.provideService(HttpClient.TracerDisabledWhen, $WHEN))"
  ],
  [
    "HttpClient.withTracerPropagation($IS)",
    "HttpClient.transformResponse(Effect.provideService(HttpClient.TracerPropagationEnabled, $IS))"
  ],
  ["{ duration: $TIME, onTimeout: () => $ERROR }", "{ duration: $TIME, orElse: () => Effect.fail($ERROR) }"],
  ["Layer.setConfigProvider($PROVIDER)", "ConfigProvider.layer($PROVIDER)"],
  ["Logger.minimumLogLevel(LogLevel.Debug)", "Layer.succeed(References.MinimumLogLevel, \"Debug\")"],
  ["Logger.remove(Logger.defaultLogger)", "Logger.layer([])"],
  ["Logger.replace(Logger.defaultLogger, $LOGGER)", "Logger.layer([$LOGGER])"],
  ["Schema.parseJson($SCHEMA)", "Schema.fromJsonString($SCHEMA)"],
  ["Schema.Record({ key: $KEY, value: $VALUE })", "Schema.Record($KEY, $VALUE)"],
  ["Metric.summary({ name: $NAME, error: 0, $$$OPTIONS })", "Metric.summary($NAME, { $$$OPTIONS })"],
  [
    "Metric.histogram($NAME, MetricBoundaries.fromIterable($BOUNDARIES), $DESCRIPTION)",
    "Metric.histogram($NAME, { boundaries: Metric.boundariesFromIterable($BOUNDARIES), description: $DESCRIPTION })"
  ],
  ["Object.entries($LABELS).map(([key, value]) => MetricLabel.make(key, value))", "($LABELS)"],
  ["Metric.tagged($METRIC, $NAME, $VALUE)", "Metric.withAttributes($METRIC, { [$NAME]: $VALUE })"],
  ["Effect.withRandom(Random.make($SEED))", "Random.withSeed($SEED)"],
  ["$FIBER.pollUnsafe()", "($FIBER.pollUnsafe() ?? null)"],
  ["DateTime.distance($FROM, $TO)", "Duration.toMillis(DateTime.distance($FROM, $TO))"],
  ["logLevel.label", "logLevel.toUpperCase()"],
  ["Effect.yieldNow()", "Effect.yieldNow"],
  ["Effect.withMaxOpsBeforeYield($STEPS)", "Effect.provideService(References.MaxOpsBeforeYield, $STEPS)"],
  ["Schema.between($MIN, $MAX)", "Schema.check(Schema.isBetween({ minimum: $MIN, maximum: $MAX }))"],
  ["Schema.int()", "Schema.check(Schema.isInt())"],
  ["Schema.pattern($TEXT)", "Schema.check(Schema.isPattern($TEXT))"],
  ["Schema.Union($$$MEMBERS)", "Schema.Union([$$$MEMBERS])"],
  ["Schema.Literal($$$LITERALS)", "Schema.Literals([$$$LITERALS])"]
]

/** Expressions of one file, whose names may mean something else in other files. */
export const local: Readonly<Record<string, ReadonlyArray<readonly [pattern: string, replacement: string]>>> = {
  "packages/core/src/internal/broadcast.ts": [
    ["Effect.forEach(listeners, Queue.shutdown, $OPTIONS)", "Effect.forEach(listeners, Queue.end, $OPTIONS)"],
    ["if (!isOpen) return Queue.shutdown(queue)", "if (!isOpen) return Queue.end(queue)"],
    ["new Set<Queue.Queue<A>>()", "new Set<Queue.Queue<A, Cause.Done>>()"],
    ["Queue.sliding<A>(capacity)", "Queue.sliding<A, Cause.Done>(capacity)"]
  ],
  "packages/core/src/internal/restrictedClient.ts": [
    [
      "HttpClientRequest.get(request.url).pipe($MODIFY, $HEADERS)",
      "dropped.reduce((kept, name) => HttpClientRequest.removeHeader(kept, name), request)"
    ]
  ],
  "packages/core/src/internal/version.ts": [
    [JSON.stringify(core.version), JSON.stringify(versionOf(core.version))]
  ],
  "packages/fleet/src/internal/platformError.ts": [
    ["error._tag === \"SystemError\" ? error.reason : error._tag", "error.reason._tag"]
  ],
  "packages/http-client/src/internal/callerView.ts": [
    [
      "class CallerResponse extends Inspectable.Class implements $TYPE { $$$BODY }",
      "class CallerResponse extends Inspectable.Class implements $TYPE, Pipeable.Pipeable { $$$BODY\n\n" +
      "  get url() {\n    return this.#response.url\n  }\n\n" +
      "  get upgrade() {\n    return Effect.mapError(this.#response.upgrade, (error) => this.#error(error))\n  }\n\n" +
      "  pipe() {\n    return Pipeable.pipeArguments(this, arguments)\n  }\n}"
    ]
  ],
  "packages/http-client/src/internal/span.ts": [
    // the time of the day, as the start of a span
    ["span.end(clock.monotonicTimeNanosUnsafe(), $EXIT)", "span.end(clock.currentTimeNanosUnsafe(), $EXIT)"]
  ],
  "packages/simulator/src/internal/admin/handlers.ts": [
    ["request.path.id", "request.params.id"],
    ["request.urlParams.text", "request.query.text"]
  ],
  "packages/simulator/src/internal/changes.ts": [
    ["latest.changes", "SubscriptionRef.changes(latest)"]
  ],
  "packages/store-redis/test/redisTokenStore.system.test.ts": [
    ["ConfigProvider.orElse($NONE, variables)", "ConfigProvider.make((path) => variables().load(path))"]
  ],
  "tests/integration/test/calls.transports.test.ts": [
    ["api.consumers.read({ path: $PARAMS })", "api.consumers.read({ params: $PARAMS })"],
    ["Ref.make(Cookies.empty)", "Ref.make<ReadonlyArray<Cookies.Cookie>>([])"]
  ],
  "tests/support/src/childProcess.ts": [
    ["const interruptedExitCode = 0", "const interruptedExitCode = 130"]
  ],
  "tests/support/src/recordingTracer.ts": [
    ["Tracer.make({ context: (run) => run(), span: $SPAN })", "Tracer.make({ span: $SPAN })"],
    [
      "(name, parent, context, links, startTime, kind) => $BODY",
      "({ name, parent, annotations: context, links, startTime, kind }) => $BODY"
    ],
    [
      "{ _tag: \"Span\", $$$BEFORE, context, $$$AFTER }",
      "{ _tag: \"Span\", $$$BEFORE, annotations: context, $$$AFTER }"
    ]
  ]
}

/** The modules that rules write, beside those of `effect` itself. */
export const imports: Readonly<Record<string, string>> = {
  FastCheck: "fast-check",
  HttpRouter: "effect/http/HttpRouter",
  NodeServices: "@effect/platform-node/NodeServices",
  Otlp: "effect/observability/Otlp",
  TestClock: "effect/testing/TestClock"
}
