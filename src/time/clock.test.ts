import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { systemClock } from './clock.js'

describe('the system clock', () => {
  it('keeps the process alive for a timer, and not for an idle one', () => {
    const held = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    const before = held()
    const idle = systemClock.timer(60_000, () => undefined, { isIdle: true })
    expect(held()).toBe(before)
    const cancel = systemClock.timer(60_000, () => undefined)
    expect(held()).toBe(before + 1)
    cancel()
    idle()
  })

  it('never wakes before the requested instant', async () => {
    for (let round = 0; round < 20; round += 1) {
      const at = systemClock.now() + 3
      await systemClock.sleepUntil(at)
      expect(systemClock.now()).toBeGreaterThanOrEqual(at)
    }
  })

  it('never sleeps shorter than requested', async () => {
    for (let round = 0; round < 20; round += 1) {
      const start = systemClock.monotonicMs()
      await systemClock.sleep(3)
      expect(systemClock.monotonicMs() - start).toBeGreaterThanOrEqual(3)
    }
  })

  it('returns how long the system has been up', () => {
    expect(systemClock.uptimeMs()).toBeGreaterThan(0)
  })
})

describe('the system clock on simulated timers', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'hrtime'], now: 1_000_000 })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('wakes at the instant', async () => {
    const woken = watch(systemClock.sleepUntil(1_090_000))
    await vi.advanceTimersByTimeAsync(89_999)
    expect(woken()).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(woken()).toBe(true)
  })

  it('notices within thirty seconds that the wall clock was set forward', async () => {
    const woken = watch(systemClock.sleepUntil(1_000_000 + 86_400_000))
    await vi.advanceTimersByTimeAsync(10_000)
    vi.setSystemTime(1_000_000 + 90_000_000)
    await vi.advanceTimersByTimeAsync(20_000)
    expect(woken()).toBe(true)
  })

  it('keeps sleeping when the wall clock was set back', async () => {
    const woken = watch(systemClock.sleepUntil(1_060_000))
    await vi.advanceTimersByTimeAsync(59_000)
    vi.setSystemTime(1_000_000)
    await vi.advanceTimersByTimeAsync(59_000)
    expect(woken()).toBe(false)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(woken()).toBe(true)
  })

  it('sleeps by elapsed time, whatever the wall clock does', async () => {
    const woken = watch(systemClock.sleep(100_000))
    vi.setSystemTime(9_000_000)
    await vi.advanceTimersByTimeAsync(99_999)
    expect(woken()).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(woken()).toBe(true)
  })

  it('resolves immediately when the signal aborts, and leaves no timer or listener behind', async () => {
    const controller = new AbortController()
    const remove = vi.spyOn(controller.signal, 'removeEventListener')
    const woken = watch(systemClock.sleep(100_000, controller.signal))
    await vi.advanceTimersByTimeAsync(1)
    controller.abort()
    await vi.advanceTimersByTimeAsync(0)
    expect(woken()).toBe(true)
    expect(vi.getTimerCount()).toBe(0)
    expect(remove).toHaveBeenCalledOnce()
  })

  it('does not sleep if the signal is already aborted or the time has come', async () => {
    await systemClock.sleepUntil(2_000_000, AbortSignal.abort())
    await systemClock.sleep(5000, AbortSignal.abort())
    await systemClock.sleepUntil(999_999)
    await systemClock.sleep(0)
    await systemClock.sleep(-5)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('fires a timer once, even if it is longer than the limit of setTimeout', async () => {
    const fire = vi.fn<() => void>()
    systemClock.timer(25 * 86_400_000, fire)
    await vi.advanceTimersByTimeAsync(25 * 86_400_000 - 1)
    expect(fire).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(100_000)
    expect(fire).toHaveBeenCalledOnce()
  })

  it('cancels a timer in any of its pieces', async () => {
    const fire = vi.fn<() => void>()
    const cancel = systemClock.timer(100_000, fire)
    await vi.advanceTimersByTimeAsync(70_000)
    cancel()
    await vi.advanceTimersByTimeAsync(100_000)
    expect(fire).not.toHaveBeenCalled()
    expect(vi.getTimerCount()).toBe(0)
  })
})

function watch(promise: Promise<void>): () => boolean {
  let isDone = false
  void promise.then(() => {
    isDone = true
    return undefined
  })
  return () => isDone
}
