import type { Attributes, Context, Span } from '@opentelemetry/api'
import type { ExecutableJob, Handler, RunContext } from '../../engine/worker/perform.js'
import type { Labels } from '../../kernel/run/run.js'
import type { Store } from '../../store/port.js'
import type { Telemetry } from './telemetry.js'

/**
 * The spans of runs: one for the call that records runs, and one for each attempt, as its child. The labels of a run
 * carry the trace context from one to the other, so an attempt in another process, or after a restart, joins the trace.
 */
export class RunSpans {
  readonly #api: Telemetry

  constructor(api: Telemetry) {
    this.#api = api
  }

  /** Records runs within a span. The labels that `act` gets belong to each of these runs. */
  async record<Answer>(
    { job, runs }: { readonly job: string; readonly runs: number },
    act: (labels: Labels | undefined) => Promise<Answer>,
  ): Promise<Answer> {
    const { trace, SpanKind, propagation, context } = this.#api
    const attributes = { ...attributesOf(job, 'enqueue'), 'messaging.batch.message_count': runs }
    const options = { kind: SpanKind.PRODUCER, attributes }
    return await trace.getTracer('rota').startActiveSpan(`enqueue ${job}`, options, async (span) => {
      const carrier: Record<string, string> = {}
      propagation.inject(context.active(), carrier)
      return await this.#ending(span, () => act(carried(carrier)))
    })
  }

  /** The same job, whose handler runs within a span. */
  traced(executable: ExecutableJob, store: Pick<Store, 'run'>): ExecutableJob {
    const { job, handler } = executable
    return { job, handler: async (run) => await this.#attempt(run, { handler, store }) }
  }

  async #attempt(
    run: RunContext,
    { handler, store }: { handler: Handler; store: Pick<Store, 'run'> },
  ): Promise<unknown> {
    const { trace, SpanKind } = this.#api
    const options = { kind: SpanKind.CONSUMER, attributes: attemptAttributes(run) }
    const parent = await this.#parentOf(run, store)
    return await trace
      .getTracer('rota')
      .startActiveSpan(`run ${run.job}`, options, parent, (span) =>
        this.#ending(span, async () => await handler(run)),
      )
  }

  /** The context of the call that recorded a run. If the run cannot be read, a new trace starts instead of an error. */
  async #parentOf({ id }: RunContext, store: Pick<Store, 'run'>): Promise<Context> {
    const { propagation, ROOT_CONTEXT } = this.#api
    const labels = await store.run(id).then(
      (run) => run?.labels,
      () => undefined,
    )
    return propagation.extract(ROOT_CONTEXT, labels ?? {})
  }

  /** Ends a span with the result of the work inside it. */
  async #ending<Answer>(span: Span, act: () => Promise<Answer>): Promise<Answer> {
    try {
      return await act()
    } catch (error) {
      const { message } = error instanceof Error ? error : new Error(String(error))
      span.recordException(error instanceof Error ? error : message)
      span.setStatus({ code: this.#api.SpanStatusCode.ERROR, message })
      throw error
    } finally {
      span.end()
    }
  }
}

/** The context of a trace as W3C writes it; baggage and other headers may be large and are not stored. */
function carried({ traceparent, tracestate }: Readonly<Record<string, string>>): Labels | undefined {
  if (traceparent === undefined) return undefined
  return tracestate === undefined ? { traceparent } : { traceparent, tracestate }
}

function attemptAttributes({ id, job, trigger, attempt, dueAt, partition }: RunContext): Attributes {
  return {
    ...attributesOf(job, 'process'),
    'messaging.message.id': id,
    'rota.attempt': attempt,
    'rota.due_at': dueAt.toISOString(),
    ...(trigger === undefined ? {} : { 'rota.trigger': trigger }),
    ...(partition === undefined ? {} : { 'rota.partition': partition }),
  }
}

function attributesOf(job: string, operation: 'enqueue' | 'process'): Attributes {
  return {
    'messaging.system': 'rota',
    'messaging.operation.name': operation,
    'messaging.destination.name': job,
    'rota.job': job,
  }
}
