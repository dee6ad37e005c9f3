import { queryOptions, useQuery } from '@tanstack/react-query'
import type { Preview, Trigger } from '../../../../src/client/operations.js'
import type { ClockChange } from '../../../../src/client/ui-operations.js'
import { api } from '../../data/api.js'

/** A cron expression in a zone, with its rule for changes of the clocks. */
export interface CronSchedule {
  readonly expression: string
  readonly timezone: string
  readonly dst: 'vixie' | 'skip' | 'real-time'
}

/** Enough for a year of a daily trigger; one that is due more often is not disturbed by a change of the clocks. */
const previewed = 400

/** The cron schedule of a trigger, if it has one. */
export function cronOf({ schedule }: Trigger): CronSchedule | undefined {
  return schedule.kind === 'cron' ? (schedule as unknown as CronSchedule) : undefined
}

/** What a cron expression means: a sentence, its next instants, and what changes of the clocks do to them. */
export function previewQuery({ expression, timezone, dst }: CronSchedule) {
  return queryOptions({
    queryKey: ['preview', expression, timezone, dst],
    queryFn: ({ signal }) =>
      api('POST /preview', { body: { expression, timezone, dst, count: previewed }, signal }),
    meta: { isFixed: true },
    retry: false,
  })
}

/** The preview of a trigger that has a cron expression. */
export function useCronPreview(trigger: Trigger): Preview | undefined {
  const cron = cronOf(trigger)
  const none: CronSchedule = { expression: '', timezone: '', dst: 'vixie' }
  return useQuery({ ...previewQuery(cron ?? none), enabled: cron !== undefined }).data
}

/** The changes of the clocks that move, add or drop instants. */
export function clockChanges(preview: Preview | undefined): readonly ClockChange[] {
  return (preview?.changes ?? []) as readonly ClockChange[]
}
