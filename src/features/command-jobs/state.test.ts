import { describe, expect, it } from 'vitest'
import { commandJobOf, commandTrigger, executingRun, type CommandJob, type Due } from './definition.js'
import { commandJobState, executedElsewhere, executionOf, type CommandJobState } from './state.js'
import type { StateEntry } from '../../kernel/state/state-entry.js'
import type { FinalState, RunState } from '../../kernel/run/run.js'
import type { StoredTrigger } from '../../kernel/trigger/trigger.js'

const at = Date.UTC(2026, 0, 5, 9)

function jobOf(due: Due): CommandJob {
  return {
    id: 'job_1',
    ...due,
    command: 'remind',
    userId: 'u',
    metadata: { chat: '42' },
    extra: { priority: 5 },
  }
}

const recurring = jobOf({ type: 'recurring', schedule: '0 9 * * *' })
const oneShot = jobOf({ type: 'oneshot', executeAt: at })

function storedOf(job: CommandJob, given: Partial<StoredTrigger> = {}): StoredTrigger {
  return {
    trigger: commandTrigger(job, 'on-command'),
    source: 'jobs',
    version: 1,
    revision: 1,
    definedAt: 0,
    cursorAt: 0,
    nextAt: at,
    chainRun: undefined,
    active: true,
    ...given,
  }
}

describe('a command job', () => {
  it.each([recurring, oneShot])('is unchanged when it is read from its trigger', (job) => {
    expect(commandJobOf(commandTrigger(job, 'remind'))).toEqual(job)
  })

  it.each<
    [CommandJobState, CommandJob, Partial<StoredTrigger>, RunState | undefined, FinalState | undefined]
  >([
    ['scheduled', recurring, {}, undefined, undefined],
    ['created', recurring, { nextAt: undefined }, undefined, undefined],
    ['executing', recurring, {}, 'pending', undefined],
    ['executing', recurring, {}, 'running', undefined],
    ['completed', recurring, {}, 'done', undefined],
    ['completed', recurring, {}, 'failed', undefined],
    ['removed', recurring, { active: false }, 'done', undefined],
    ['removed', recurring, { active: false }, 'running', undefined],
    ['scheduled', oneShot, {}, undefined, undefined],
    ['scheduled', oneShot, {}, 'done', undefined],
    ['executing', oneShot, { nextAt: undefined }, 'running', undefined],
    ['executed', oneShot, { nextAt: undefined }, 'done', 'done'],
    ['executed', oneShot, { nextAt: undefined }, 'failed', 'failed'],
    ['executing', oneShot, { nextAt: undefined }, 'pending', 'failed'],
    ['cleaned-up', oneShot, { active: false }, 'done', 'done'],
    ['removed', oneShot, { active: false }, 'cancelled', 'cancelled'],
    ['removed', oneShot, { active: false }, undefined, undefined],
  ])('N3: shows its state: %s', (state, job, given, run, executed) => {
    const execution = executed === undefined ? undefined : { at, state: executed }
    expect(commandJobState({ stored: storedOf(job, given), run, execution })).toBe(state)
  })

  it('N6: was executed only if the state entry names its own run', () => {
    const stored = storedOf(oneShot)
    const note = { ...executedElsewhere(stored.trigger, at + 5), revision: 1, at } as StateEntry
    expect(executionOf(stored, note)).toEqual({ at: at + 5, state: 'done' })
    expect(executionOf(stored, undefined)).toBeUndefined()
    const later = storedOf(jobOf({ type: 'oneshot', executeAt: at + 1 }))
    expect(executionOf(later, note)).toBeUndefined()
    expect(executingRun(storedOf(recurring).trigger)).toBeUndefined()
  })
})
