// Spans of runs, from the call that records a run to the end of its attempts. Run it with
// `node examples/tracing/traced.mjs`; it needs @opentelemetry/api and an SDK in your project.
import { context, propagation, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { rota } from 'rota'

// Your program does this already if it is traced. Rota only has to find it when the app is first used.
const exporter = new InMemorySpanExporter()
trace.setGlobalTracerProvider(
  new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
)
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
propagation.setGlobalPropagator(new W3CTraceContextPropagator())

const app = rota({ app: 'tracing-example', store: 'sqlite:data/tracing.db' })
const mail = app.job('mail', () => {
  trace.getActiveSpan()?.setAttribute('mail.to', 'ann@example.org')
})
await app.start()

await trace.getTracer('shop').startActiveSpan('POST /orders', async (request) => {
  const run = await app.enqueue(mail, {})
  await run.result()
  request.end()
})
await app.stop()

const spans = exporter.getFinishedSpans()
const parentOf = ({ parentSpanContext }) =>
  spans.find((span) => span.spanContext().spanId === parentSpanContext?.spanId)?.name
for (const span of spans.filter(parentOf)) console.log(`${span.name} is part of ${parentOf(span)}`)
