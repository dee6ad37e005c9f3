import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { AnswerCache } from './answer-cache.js'
import { StoreVersion } from './store-version.js'

/** A store with a version, and a clock that moves when somebody sleeps. */
function stage({ isAsked = true } = {}) {
  const at = { version: 1, ms: 1000, made: 0, looks: 0, slept: [] as number[], lookEnds: Promise.resolve() }
  const clock = {
    monotonicMs: () => at.ms,
    sleep: async (ms: number) => {
      at.slept.push(ms)
      at.ms += ms
    },
  }
  const stamp = async () => {
    at.looks += 1
    const { version } = at
    await at.lookEnds
    return version
  }
  const version = new StoreVersion(isAsked ? { stamp, clock } : { version: () => at.version, clock })
  const cache = new AnswerCache({ version, clock })
  const ask = async (
    path: string,
    { actor = 'ann', during = () => {}, after = Promise.resolve(), tookMs = 0, isStream = false } = {},
  ) => {
    const request = new Request(`http://127.0.0.1/api/v1${path}`)
    const answer = await cache.answer(
      { request, caller: { actor, role: 'read' }, route: { isStream } },
      async () => {
        during()
        at.made += 1
        const body = String(at.made)
        await after
        at.ms += tookMs
        return { status: 200, headers: {}, body }
      },
    )
    return 'body' in answer && typeof answer.body === 'string' ? answer.body : ''
  }
  return { at, ask }
}

function gate() {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => (open = resolve))
  return { open: () => open(), opened }
}

describe.each([
  ['knows its version immediately', false],
  ['needs a query for its version', true],
])('a store that %s', (_, isAsked) => {
  it('computes the same request once while nothing changes', async () => {
    const { at, ask } = stage({ isAsked })
    await ask('/first')
    await ask('/first')
    at.made = 0
    expect(await ask('/runs')).toBe('1')
    expect([await ask('/runs'), await ask('/jobs'), await ask('/runs')]).toEqual(['1', '2', '1'])
    at.version = 2
    expect(await ask('/runs')).toBe('3')
  })

  it('does not share an answer with other requests, and does not keep it for long', async () => {
    const { at, ask } = stage({ isAsked })
    await ask('/first')
    await ask('/first')
    at.made = 0
    expect([await ask('/session'), await ask('/session', { actor: 'bob' })]).toEqual(['1', '2'])
    at.ms += 249
    expect(await ask('/session')).toBe('1')
    at.ms += 10
    expect(await ask('/session')).toBe('3')
  })

  it('never returns an answer that began before a change to requests after it', async () => {
    const { at, ask } = stage({ isAsked })
    await ask('/runs', { during: () => void (at.version = 2) })
    expect(await ask('/runs')).toBe('2')
    const { open, opened } = gate()
    at.version = 3
    const slow = ask('/runs', { after: opened })
    await turn()
    expect(at.made).toBe(3)
    at.version = 4
    const others = [ask('/runs'), ask('/runs'), ask('/runs')]
    await turn()
    open()
    expect(await slow).toBe('3')
    expect(await Promise.all(others)).toEqual(['4', '4', '4'])
  })

  it('shares an answer in progress while nothing changes', async () => {
    const { at, ask } = stage({ isAsked })
    await ask('/first')
    await ask('/first')
    at.made = 0
    const { open, opened } = gate()
    const asked = [ask('/runs', { after: opened })]
    await turn()
    asked.push(ask('/runs'), ask('/runs'))
    await turn()
    open()
    expect(await Promise.all(asked)).toEqual(['1', '1', '1'])
  })

  it('never keeps a stream', async () => {
    const { ask } = stage({ isAsked })
    const isStream = true
    expect([await ask('/logs', { isStream }), await ask('/logs', { isStream })]).toEqual(['1', '2'])
  })

  it('computes an answer again after 25 ms, or ten times its duration, or half a second', async () => {
    const { at, ask } = stage({ isAsked })
    const waited: number[] = []
    for (const tookMs of [1, 8, 400]) {
      const path = `/after-${tookMs}`
      await ask(path, { tookMs })
      at.version += 1
      const beforeMs = at.ms
      await ask(path)
      waited.push(tookMs + at.ms - beforeMs)
    }
    expect(waited).toEqual([25, 80, 500])
  })

  it('returns a failure to all waiting requests, and tries again for the next one', async () => {
    const { ask } = stage({ isAsked })
    const fail = (): void => {
      throw new Error('away')
    }
    const ends = await Promise.allSettled([ask('/runs', { during: fail }), ask('/runs'), ask('/runs')])
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    expect(await ask('/runs')).toBe('1')
  })
})

it('a look is shared by all requests before it, and is not repeated immediately', async () => {
  const { at, ask } = stage()
  await Promise.all([ask('/runs'), ask('/jobs')])
  expect(at.looks).toBe(0)
  at.ms += 25
  const [known] = await Promise.all([ask('/runs'), ask('/jobs'), ask('/runs')])
  expect(at.looks).toBe(1)
  at.ms += 25
  const { open, opened } = gate()
  at.lookEnds = opened
  const first = ask('/runs')
  await turn()
  at.version = 2
  const second = ask('/runs')
  await turn()
  expect(at.looks).toBe(2)
  open()
  expect(await first).toBe(known)
  // The look of the first request began before the change, and the second request came after it.
  expect(await second).not.toBe(known)
  expect([at.looks, at.slept]).toEqual([3, [10, 30]])
})

it('a failed look fails all waiting requests', async () => {
  const { at, ask } = stage()
  await ask('/runs')
  at.lookEnds = Promise.reject(new Error('away'))
  await expect(ask('/runs')).rejects.toThrow('away')
  at.lookEnds = Promise.resolve()
  expect(await ask('/runs')).toBe('2')
})
