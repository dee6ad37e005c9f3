import { expect, it } from 'vitest'
import { AnswerCache } from './answer-cache.js'

function stage() {
  const at = { version: 1, ms: 0, made: 0 }
  const cache = new AnswerCache({ version: () => at.version, monotonicMs: () => at.ms })
  const ask = async (path: string, { actor = 'ann', during = () => {}, isStream = false } = {}) => {
    const request = new Request(`http://127.0.0.1/api/v1${path}`)
    const answer = await cache.answer(
      { request, caller: { actor, role: 'read' }, route: { isStream } },
      async () => {
        during()
        at.made += 1
        return { status: 200, headers: {}, body: String(at.made) }
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
