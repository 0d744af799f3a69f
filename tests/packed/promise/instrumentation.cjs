// Loaded before the program, as an operator adds OpenTelemetry. Prints the requests that were measured when the process ends.

const { NodeTracerProvider } = require("@opentelemetry/sdk-trace-node")
const { InMemorySpanExporter, SimpleSpanProcessor } = require("@opentelemetry/sdk-trace-base")
const { registerInstrumentations } = require("@opentelemetry/instrumentation")
const { HttpInstrumentation } = require("@opentelemetry/instrumentation-http")

const exporter = new InMemorySpanExporter()
new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register()
registerInstrumentations({ instrumentations: [new HttpInstrumentation()] })
process.once("exit", () => {
  for (const { attributes, name } of exporter.getFinishedSpans()) {
    console.log(`${name} ${new URL(attributes["url.full"] ?? attributes["http.url"]).pathname}`)
  }
})
