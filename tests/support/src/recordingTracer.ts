import { Exit, Option, Tracer } from "effect"

export interface Recorded {
  readonly name: string
  readonly spanId: string
  readonly attributes: Record<string, unknown>
  /** The id of the parent span. */
  readonly parent: string | undefined
  /** The ids of the spans that were linked. */
  readonly links: Array<string>
  /** The events that were added to the span. */
  readonly events: Array<unknown>
  /** The exit with which the span ended. */
  exit?: Exit.Exit<unknown, unknown>
}

/** A tracer that keeps its spans. */
export const recordingTracer = (onSpan: (kind: Tracer.SpanKind) => unknown = () => {}) => {
  const spans: Array<Recorded> = []
  const tracer = Tracer.make({
    context: (run) => run(),
    span: (name, parent, context, links, startTime, kind) => {
      const attributes: Record<string, unknown> = {}
      const spanId = String(spans.length + 1).padStart(16, "0")
      const recorded: Recorded = {
        name,
        spanId,
        attributes,
        links: [],
        events: [],
        parent: Option.getOrUndefined(Option.map(parent, (span) => span.spanId))
      }
      spans.push(recorded)
      onSpan(kind)
      return {
        _tag: "Span",
        name,
        spanId,
        traceId: Option.match(parent, { onNone: () => "1".padStart(32, "0"), onSome: ({ traceId }) => traceId }),
        parent,
        context,
        status: { _tag: "Started", startTime },
        attributes: new Map(),
        links,
        sampled: true,
        kind,
        end: (_, exit) => {
          recorded.exit = exit
        },
        attribute: (key, value) => {
          attributes[key] = value
        },
        event: (name, _, attributes) => {
          recorded.events.push([name, attributes])
        },
        addLinks: (added) => {
          recorded.links.push(...added.map((link) => link.span.spanId))
        }
      }
    }
  })
  return { spans, tracer }
}
