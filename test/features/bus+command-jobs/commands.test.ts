import { describe, expect, it } from 'vitest'
import type { RunContext } from '../../../src/engine/worker/perform.js'
import type { BusMessage } from '../../../src/features/bus/messages.js'
import { deserted, heard, nine } from '../../../src/features/bus/test/deserted.js'
import type { Task } from '../../../src/kernel/run/task.js'

describe('N9: a command that nobody takes', () => {
  const once = (id: string, command: string) =>
    ({ id, type: 'oneshot', executeAt: new Date(nine), command, userId: 'user1' }) as const

  it('is offered before it fails, under a job of its own name, and goes to the subscriber that names it', async () => {
    const { app, pass } = await deserted()
    const messages: BusMessage[] = []
    const taken: Task[] = []
    app.bus.listen((message) => messages.push(message))
    app.bus.subscribe({ commands: ['remind'], take: (task) => (taken.push(task), 'reminded') })
    // Due earlier: a claim that uses only the time would get it.
    await app.commands.add({ ...once('a', 'other'), executeAt: new Date(nine - 1) })
    await app.commands.add(once('b', 'remind'))
    await app.commands.add(once('c', 'say hello'))
    await pass(60_000 + 4_900)
    expect(heard(messages)).toEqual([])
    expect((await app.runs.list()).map(({ state }) => state)).not.toContain('failed')
    await pass(4_000)
    expect(heard(messages).filter(({ trigger }) => trigger === 'b')).toMatchObject([
      {
        job: 'command:remind',
        schedule: 'at 2026-01-05T09:00:00Z',
        task: {
          id: `cron_b_${nine}`,
          payload: { command: 'remind', user_id: 'user1', metadata: {} },
        },
      },
    ])
    expect(heard(messages).map(({ trigger, job }) => [trigger, job])).toEqual(
      expect.arrayContaining([
        ['a', 'command:other'],
        ['c', 'jobs:command'],
      ]),
    )
    expect(taken).toMatchObject([{ id: `cron_b_${nine}` }])
    await pass(10_000)
    const ends = await Promise.all(
      ['a', 'b', 'c'].map(async (trigger) => (await app.runs.list({ trigger }))[0]),
    )
    expect(ends).toMatchObject([
      { state: 'failed', attempt: 1, error: { code: 'COMMAND_UNKNOWN' } },
      { state: 'done', attempt: 1, result: 'reminded' },
      { state: 'failed', attempt: 1, error: { code: 'COMMAND_UNKNOWN' } },
    ])
    expect(await app.commands.get('b')).toMatchObject({ state: 'executed', executed: true })
  })

  it('goes to a subscriber of all commands, whatever the command is', async () => {
    const { app, pass } = await deserted()
    const taken: string[] = []
    app.bus.subscribe({ commands: ['*'], take: ({ payload }) => void taken.push(payload.command) })
    await app.commands.add(once('b', 'remind'))
    await app.commands.add(once('c', 'say hello'))
    await pass(60_000 + 9_000)
    expect(taken.toSorted()).toEqual(['remind', 'say hello'])
  })

  it('goes to a job with its name that is defined while it waits', async () => {
    const { app, pass } = await deserted({ bus: { offerAfter: '1h' } })
    const taken: unknown[] = []
    await app.commands.add(once('b', 'remind'))
    await pass(61_000)
    await app.jobs.add({ remind: { handler: (run: RunContext) => void taken.push(run.trigger) } })
    await pass(60_000)
    expect(taken).toEqual(['b'])
  })
})
