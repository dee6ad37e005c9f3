import { describe, expect, it } from 'vitest'
import { RequestRate } from './request-rate.js'

/** A limit with a clock that the test moves. */
function stage(perSecond: number) {
  let nowMs = 1000
  const rate = new RequestRate({ monotonicMs: () => nowMs }, perSecond)
  /** How many of `count` requests are allowed. */
  const send = (count: number, caller = 'ann'): number => {
    for (let sent = 0; sent < count; sent += 1) {
      try {
        rate.count(caller)
      } catch {
        return sent
      }
    }
    return count
  }
  return { rate, send, pass: (ms: number) => void (nowMs += ms) }
}

describe('the rate of requests', () => {
  it('allows the requests of one second at once, then one for each that has become due', () => {
    const { send, pass } = stage(100)
    expect(send(500)).toBe(100)
    pass(50)
    expect(send(500)).toBe(5)
    pass(60_000)
    expect(send(500)).toBe(100)
  })

  it('counts each caller alone', () => {
    const { send } = stage(10)
    expect([send(50), send(50, 'bob')]).toEqual([10, 10])
  })

  it('a refused request does not make the caller wait longer', () => {
    const { rate, send, pass } = stage(1)
    expect(send(50)).toBe(1)
    expect(() => rate.count('ann')).toThrow('the limit is 1 per second')
    pass(1000)
    expect(send(50)).toBe(1)
  })

  it('forgets callers that are silent when there are too many', () => {
    const { send } = stage(1)
    send(1)
    for (let i = 0; i < 10_000; i += 1) send(1, `caller ${i}`)
    expect(send(1)).toBe(1)
    expect(send(1, 'caller 9999')).toBe(0)
  })
})
