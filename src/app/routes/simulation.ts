/** The route of simulations. It changes nothing, and computes in a separate thread. */
import { z } from 'zod'
import { Refusal } from '../../server/problem.js'
import { problemOf, safeHeaders } from '../../server/answer.js'
import { simulation } from '../../wire/simulation.js'
import { route, type Call, type Route } from '../../wire/route.js'
import { toJson } from '../../wire/to-json.js'
import type { App } from '../rota.js'
import { readPlan } from '../simulate/app-simulation.js'
import { historyOf } from '../simulate/history.js'
import { simulateInThread, type SimulationBounds } from '../simulate/in-thread.js'
import type { SimulationResult } from '../simulate/simulate.js'
import { definedIn } from '../simulate/virtual-store.js'

/** How many simulations a server computes concurrently: each needs a CPU core. */
const mostAtOnce = 2

const bounds: SimulationBounds = { longestMs: 120_000, heapMb: 512 }

/** The default concurrency of a process, as in a config. */
const defaultConcurrency = 10

const span = z.string().max(32)

const query = z.strictObject({
  days: z.coerce.number().int().min(1).max(366).default(7),
  processes: z.coerce.number().int().min(1).max(100).default(1),
  concurrency: z.coerce.number().int().min(1).max(10_000).default(defaultConcurrency),
  crash: span.optional().meta({ description: 'How often a process crashes on average, such as `6h`.' }),
  unknown: span.optional().meta({ description: 'How long a run takes without history; default: `1s`.' }),
  seed: z.coerce.number().int().min(1).max(0xffff_ffff).default(1),
  limit: z.coerce.number().int().min(1).max(5000).default(500),
  progress: z
    .stringbool()
    .default(false)
    .meta({ description: 'Answers with a stream that reports the progress.' }),
})

/** The same as `rota simulate` without a config. */
export function simulationRoute(): Route<App> {
  const slots = { taken: 0 }
  return route({
    method: 'GET',
    path: '/simulation',
    isStream: true,
    // It uses a CPU core for a while, so the right to read is not enough.
    role: 'operate',
    group: 'Explain',
    summary: 'Simulates the next days in memory, with the definitions and the history of the store.',
    about:
      'Nothing is changed and no handler is called; see [Simulate the time to come](../guides/simulate.md). It takes up to two minutes and 512 MB; a server computes two concurrently and refuses more. With `progress`, the answer is a stream of one JSON object per line: `{ "progress": 0.5 }`, and at the end `{ "result": … }` or `{ "error": … }`. It ends early when the caller disconnects.',
    query,
    answer: simulation,
    example: { query: { days: '2' } },
    handle: async (call) => {
      const plan = planOf(call.query)
      if (slots.taken >= mostAtOnce)
        throw new Refusal('TOO_MANY_REQUESTS', `${mostAtOnce} simulations are already running`, {
          headers: { 'retry-after': '10' },
        })
      slots.taken += 1
      const simulate = async (onProgress: (share: number) => void, signal: AbortSignal): Promise<unknown> => {
        try {
          return await simulated(call, { plan, onProgress, signal })
        } finally {
          slots.taken -= 1
        }
      }
      return call.query.progress
        ? progressStream(call.request.signal, simulate)
        : await simulate(() => undefined, call.request.signal)
    },
  })
}

function planOf({ days, crash: crashEvery, processes, concurrency, unknown, seed }: z.output<typeof query>) {
  const options = { duration: `${days}d`, processes, concurrency, crashEvery, unknown, seed }
  const { onProgress: _none, ...plan } = readPlan(options, concurrency)
  return plan
}

async function simulated(
  { app, query: { limit } }: Call<App, undefined, typeof query>,
  given: {
    readonly plan: ReturnType<typeof planOf>
    readonly onProgress: (share: number) => void
    readonly signal: AbortSignal
  },
): Promise<unknown> {
  const { onProgress, signal } = given
  const store = await app.store()
  const stored = await definedIn(store)
  const history = await historyOf(
    store,
    stored.triggers.map(({ trigger }) => trigger.name),
  )
  signal.throwIfAborted()
  const plan = { ...given.plan, fromAt: app.now() }
  return view(await simulateInThread({ stored, history, plan }, { bounds, signal, onProgress }), limit)
}

function view(result: SimulationResult, limit: number): unknown {
  const latest = result.triggers.toSorted((a, b) => b.late.maxMs - a.late.maxMs || b.runs - a.runs)
  return { ...result, triggers: latest.slice(0, limit), triggerCount: latest.length }
}

/** Streams the progress and then the result. For a slow reader only the newest progress is kept. */
function progressStream(
  gone: AbortSignal,
  simulate: (onProgress: (share: number) => void, signal: AbortSignal) => Promise<unknown>,
): Response {
  const encoder = new TextEncoder()
  const left = new AbortController()
  let lastPercent = -1
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      const send = (line: unknown): void => controller.enqueue(encoder.encode(`${JSON.stringify(line)}\n`))
      const onProgress = (share: number): void => {
        const percent = Math.floor(share * 100)
        if (percent === lastPercent || (controller.desiredSize ?? 0) <= 0) return
        lastPercent = percent
        send({ progress: percent / 100 })
      }
      onProgress(0)
      const close = (line: unknown): void => {
        if (left.signal.aborted || gone.aborted) return
        send(line)
        controller.close()
      }
      void simulate(onProgress, AbortSignal.any([gone, left.signal])).then(
        (result) => close({ result: toJson(result) }),
        (error: unknown) => close({ error: problemOf(error) }),
      )
    },
    cancel: () => left.abort(),
  })
  return new Response(body, { headers: { ...safeHeaders, 'content-type': 'application/x-ndjson' } })
}
