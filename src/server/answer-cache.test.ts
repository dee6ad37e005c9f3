import { setImmediate as turn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { AnswerCache } from './answer-cache.js'

function stage({ hasVersion = true } = {}) {
  const at = { version: 1, ms: 0, made: 0, slept: [] as number[] }
  const clock = {
    monotonicMs: () => at.ms,
    sleep: async (ms: number) => {
      at.slept.push(ms)
      at.ms += ms
    },
  }
  const cache = new AnswerCache({ version: hasVersion ? () => at.version : undefined, clock })
  const ask = async (
    path: string,
    { actor = 'ann', during = () => {}, after = Promise.resolve(), isStream = false } = {},
  ) => {
    const request = new Request(`http://127.0.0.1/api/v1${path}`)
    const answer = await cache.answer(
      { request, caller: { actor, role: 'read' }, route: { isStream } },
      async () => {
        during()
        at.made += 1
        const body = String(at.made)
        await after
        return { status: 200, headers: {}, body }
      },
    )
    return 'body' in answer && typeof answer.body === 'string' ? answer.body : ''
  }
  return { at, ask }
}

it('the same question is answered once while nothing changes', async () => {
  const { at, ask } = stage()
  expect([await ask('/runs'), await ask('/runs'), await ask('/jobs'), await ask('/runs')]).toEqual([
    '1',
    '1',
    '2',
    '1',
  ])
  at.version = 2
  expect(await ask('/runs')).toBe('3')
})

it('an answer is not shared with others, and not kept for long', async () => {
  const { at, ask } = stage()
  expect([await ask('/session'), await ask('/session', { actor: 'bob' })]).toEqual(['1', '2'])
  at.ms = 249
  expect(await ask('/session')).toBe('1')
  at.ms = 250
  expect(await ask('/session')).toBe('3')
})

it('an answer that was made while something changed is not kept, and a stream never', async () => {
  const { at, ask } = stage()
  await ask('/runs', { during: () => void (at.version = 2) })
  expect(await ask('/runs')).toBe('2')
  expect([await ask('/logs', { isStream: true }), await ask('/logs', { isStream: true })]).toEqual(['3', '4'])
})

it('without a version, an answer is shared by those who asked before it was begun, and by nobody else', async () => {
  const { at, ask } = stage({ hasVersion: false })
  let end = (): void => undefined
  const held = new Promise<void>((resolve) => (end = resolve))
  const first = ask('/runs', { after: held })
  await turn()
  const others = [ask('/runs'), ask('/runs'), ask('/runs')]
  expect(await ask('/jobs')).toBe('2')
  end()
  expect(await first).toBe('1')
  // None of them gets the answer that was begun before they asked.
  expect(await Promise.all(others)).toEqual(['3', '3', '3'])
  expect(at.slept).toEqual([25])
  at.ms += 25
  expect(await ask('/runs')).toBe('4')
  expect(at.slept).toEqual([25])
})

it('without a version, a failure is told to those who waited for it, and the next one tries again', async () => {
  const { ask } = stage({ hasVersion: false })
  const fail = (): void => {
    throw new Error('away')
  }
  const failing = [ask('/runs', { during: fail }), ask('/runs', { during: fail }), ask('/runs')]
  const ends = await Promise.allSettled(failing)
  expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(await ask('/runs')).toBe('1')
})
