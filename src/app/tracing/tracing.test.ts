import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { rota } from '../rota.js'

afterEach(() => {
  trace.disable()
  context.disable()
  propagation.disable()
})

test('an attempt in another app is a child of the call that recorded its run', async () => {
  const spans = registerSdk()
  const store = await storeAddress()
  const web = rota({ store })
  web.job('mail', () => undefined)
  const request = trace.getTracer('test').startSpan('GET /signup')
  const run = await context.with(trace.setSpan(context.active(), request), () => web.enqueue('mail', {}))
  request.end()
  await web.close()

  const worker = rota({ store })
  let inside: string | undefined
  worker.job('mail', () => void (inside = trace.getActiveSpan()?.spanContext().spanId))
  await worker.start()
  await worker.runs.wait(run.id)
  await worker.stop()

  const [enqueue, attempt] = [spanOf(spans, 'enqueue mail'), spanOf(spans, 'run mail')]
  expect(enqueue.kind).toBe(SpanKind.PRODUCER)
  expect(enqueue.parentSpanContext?.spanId).toBe(request.spanContext().spanId)
  expect(attempt.kind).toBe(SpanKind.CONSUMER)
  expect(attempt.parentSpanContext?.spanId).toBe(enqueue.spanContext().spanId)
  expect(attempt.attributes).toMatchObject({ 'messaging.message.id': run.id, 'rota.attempt': 1 })
  expect(inside).toBe(attempt.spanContext().spanId)
})

test('every attempt of a run is a span of its trace, and one that fails has the error', async () => {
  const spans = registerSdk()
  const app = rota({ store: await storeAddress() })
  app.job(
    'flaky',
    ({ attempt }) => {
      if (attempt === 1) throw new Error('not yet')
    },
    { retry: { attempts: 2, delay: 0 } },
  )
  await app.start()
  const run = await app.enqueue('flaky', {})
  await app.runs.wait(run.id)
  await app.stop()

  const attempts = spans().filter(({ name }) => name === 'run flaky')
  expect(attempts.map(({ attributes }) => attributes['rota.attempt'])).toEqual([1, 2])
  expect(attempts.map(({ status }) => status.code)).toEqual([SpanStatusCode.ERROR, SpanStatusCode.UNSET])
  expect(new Set(attempts.map((span) => span.spanContext().traceId)).size).toBe(1)
})

test('a manual run is traced and keeps its labels', async () => {
  const spans = registerSdk()
  const app = rota({ store: await storeAddress() })
  app.job('report', () => undefined)
  app.schedule('nightly', { job: 'report', cron: '0 2 * * *' })
  await app.start()
  const { id } = await app.triggers.runNow('nightly')
  await app.runs.wait(id)
  const { labels } = await app.runs.get(id)
  await app.stop()
  const { traceId } = spanOf(spans, 'run report').spanContext()
  expect(labels?.['traceparent']).toContain(traceId)
})

test('without an SDK runs have no labels', async () => {
  const app = rota({ store: await storeAddress() })
  app.job('mail', () => undefined)
  const { id } = await app.enqueue('mail', {})
  expect((await app.runs.get(id)).labels).toBeUndefined()
  await app.close()
})

function registerSdk(): () => readonly ReadableSpan[] {
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  trace.setGlobalTracerProvider(provider)
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  propagation.setGlobalPropagator(new W3CTraceContextPropagator())
  return () => exporter.getFinishedSpans()
}

function spanOf(spans: () => readonly ReadableSpan[], name: string): ReadableSpan {
  const found = spans().filter((span) => span.name === name)
  expect(found.map((span) => span.name)).toEqual([name])
  return found[0] as ReadableSpan
}

async function storeAddress(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'rota-tracing-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return `sqlite:${join(directory, 'rota.db')}`
}
