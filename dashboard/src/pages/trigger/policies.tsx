import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Job, Trigger } from '../../../../src/client/operations.js'
import { api } from '../../data/api.js'
import { formatDuration } from '../../data/format.js'
import { FactList } from '../../parts/facts.js'
import { words } from '../../words/trigger.js'
import styles from './page.module.css'

/** What the definition says about late instants, unfinished runs, delays, and about its job. */
export function Policies({ trigger }: { trigger: Trigger }): ReactNode {
  const { data: job } = useQuery({
    queryKey: ['job', trigger.job],
    queryFn: ({ signal }) => api('GET /jobs/{name}', { path: { name: trigger.job }, signal }),
    meta: { topics: ['triggers'] },
    retry: false,
  })
  const { policies } = words
  const catchUp = trigger['catchUp'] as CatchUp | undefined
  return (
    <div className={styles['columns']}>
      <section>
        <h3>{policies.trigger}</h3>
        <FactList
          facts={[
            [policies.catchUp, catchUp === undefined ? null : catchUpText(catchUp)],
            [policies.overlap, `${trigger.overlap}: ${policies.overlaps[trigger.overlap] ?? ''}`],
            [policies.jitter, durationOf(trigger['jitterMs'])],
            [policies.spread, durationOf(trigger['spreadMs'])],
            [policies.pauses, pausesText(trigger['pauseAfter'])],
            [policies.partition, textOf(trigger['partition'])],
            [policies.payload, textOf(trigger.payload)],
          ]}
        />
      </section>
      <section>
        <h3>{policies.job(trigger.job)}</h3>
        {job === undefined ? null : <FactList facts={jobFacts(job)} />}
      </section>
    </div>
  )
}

function pausesText(after: unknown): string | null {
  return typeof after === 'number' ? words.policies.pausesAfter(after) : null
}

interface CatchUp {
  readonly mode: string
  readonly maxRuns: number
  readonly graceMs: number
  readonly maxAgeMs: number | null
}

function catchUpText({ mode, maxRuns, graceMs, maxAgeMs }: CatchUp): string {
  const { policies } = words
  return [
    `${mode}: ${policies.catchUps[mode] ?? ''}`,
    ...(mode === 'all' ? [policies.atMost(maxRuns)] : []),
    ...(maxAgeMs === null ? [] : [policies.maxAge(formatDuration(maxAgeMs))]),
    policies.grace(formatDuration(graceMs)),
  ].join(' · ')
}

interface Retry {
  readonly attempts: number
  readonly delayMs: number
  readonly backoff: string
  readonly not?: readonly (string | number)[] | null
}

function jobFacts(job: Job): readonly (readonly [string, ReactNode])[] {
  const { policies } = words
  const retry = job['retry'] as Retry | null
  return [
    [policies.handler, <code>{handlerText(job)}</code>],
    [policies.queue, job.queue],
    [policies.priority, job.priority === 0 ? null : job.priority],
    [
      policies.retry,
      retry === null ? null : policies.retries(retry.attempts, formatDuration(retry.delayMs), retry.backoff),
    ],
    [policies.notRetried, retry?.not?.join(', ') ?? null],
    [policies.timeout, durationOf(job['timeoutMs']) ?? policies.none],
    [policies.concurrency, textOf(job['concurrency']) ?? policies.unlimited],
    [policies.rate, rateOf(job['limit'])],
    [policies.ratePerKey, rateOf(job['limitPerKey'])],
    [policies.maxCrashes, textOf(job['maxCrashes'])],
    [policies.deadLetter, textOf(job['deadLetter'])],
    [policies.source, job.source],
  ]
}

function handlerText({ handler }: Job): string {
  const { kind, argv, url, module, path } = handler
  const target = Array.isArray(argv)
    ? argv.join(' ')
    : [url, module, path].find((one) => typeof one === 'string')
  return target === undefined ? kind : `${kind}: ${target}`
}

function durationOf(ms: unknown): string | null {
  return typeof ms === 'number' && ms > 0 ? formatDuration(ms) : null
}

function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function rateOf(value: unknown): string | null {
  const limit = (value ?? null) as { max: number; perMs: number; burst: number } | null
  return limit === null ? null : words.policies.rates(limit.max, formatDuration(limit.perMs), limit.burst)
}
