import { expect } from 'vitest'
import type { NewRun } from '../../../../kernel/run/run.js'
import { aRun, minute, outcomes, t0, type Law, type Stage } from '../../stage.js'

const second = 1000

function debounced(label: string, at: number, given: Partial<NewRun> = {}): NewRun {
  const burst = { kind: 'debounce', waitMs: 10 * second, maxMs: 25 * second } as const
  const run = { runAt: at + 10 * second, uniqueKey: 'debounce:k', payload: label, burst }
  return aRun(label, { dueAt: at, ...run, ...given })
}

function throttled(label: string, at: number): NewRun {
  const rule = { uniqueUntil: at + minute, burst: { kind: 'throttle', perMs: minute } } as const
  return aRun(label, { dueAt: at, uniqueKey: 'throttle:k', payload: label, ...rule })
}

async function put(stage: Stage, run: NewRun, now: number): Promise<unknown> {
  const [answer] = await stage.store.enqueue({ runs: [run], now })
  return answer
}

/** Several enqueues with one key. */
export function burstLaws(law: Law): void {
  law('debounce: the last enqueue runs when no more follow, at the latest after `maxMs`', async (stage) => {
    await stage.ready()
    const first = debounced('1', t0)
    expect(await put(stage, first, t0)).toEqual({ id: first.id, created: true })
    const again = { id: first.id, created: false }
    expect(await put(stage, debounced('2', t0 + 5 * second), t0 + 5 * second)).toEqual(again)
    expect(await put(stage, debounced('3', t0 + 14 * second), t0 + 14 * second)).toEqual(again)
    expect(await stage.run(first.id)).toMatchObject({ runAt: t0 + 24 * second, dueAt: t0, payload: '3' })
    expect(await put(stage, debounced('4', t0 + 20 * second, { priority: 2 }), t0 + 20 * second)).toEqual(
      again,
    )
    expect(await stage.claim('w', t0 + 25 * second - 1)).toEqual([])
    const claim = await stage.claimOne('w', t0 + 25 * second)
    expect(claim).toMatchObject({ run: first.id, payload: '4' })
    expect(await stage.run(first.id)).toMatchObject({
      priority: 2,
      labels: { replaced_enqueues: '3' },
      createdAt: t0,
    })
    await stage.reopen()
    expect(await stage.run(first.id)).toMatchObject({ payload: '4', labels: { replaced_enqueues: '3' } })
  })

  law('a run that has begun is not changed: the next enqueue becomes another run', async (stage) => {
    await stage.ready()
    const first = debounced('1', t0)
    await stage.enqueue([first])
    const claim = await stage.claimOne('w', t0 + 10 * second)
    const second2 = debounced('2', t0 + 11 * second)
    expect(await put(stage, second2, t0 + 11 * second)).toEqual({ id: second2.id, created: true })
    await stage.finish('w', claim, { outcome: outcomes.again(t0 + minute), at: t0 + 12 * second })
    // The first waits again, but only a run that waits for its first attempt is replaced.
    const third = debounced('3', t0 + 13 * second)
    expect(await put(stage, third, t0 + 13 * second)).toEqual({ id: second2.id, created: false })
    expect(await stage.run(first.id)).toMatchObject({ payload: '1', runAt: t0 + minute })
  })

  law('throttle: the first enqueue of a period runs; the others are counted and dropped', async (stage) => {
    await stage.ready()
    const first = throttled('1', t0)
    expect(await put(stage, first, t0)).toEqual({ id: first.id, created: true })
    await stage.finish('w', await stage.claimOne('w', t0), { outcome: outcomes.done, at: t0 + 1 })
    for (const at of [t0 + 2, t0 + minute - 1])
      expect(await put(stage, throttled('x', at), at)).toEqual({ id: first.id, created: false })
    expect(await stage.run(first.id)).toMatchObject({ payload: '1', labels: { dropped_enqueues: '2' } })
    const next = throttled('2', t0 + minute)
    expect(await put(stage, next, t0 + minute)).toEqual({ id: next.id, created: true })
  })

  law('a run that takes longer than the period drops no enqueue after the period', async (stage) => {
    await stage.ready()
    await stage.enqueue([throttled('1', t0)])
    const next = throttled('2', t0 + minute)
    expect(await put(stage, next, t0 + minute)).toEqual({ id: next.id, created: true })
    expect(await stage.claim('w', t0 + minute)).toHaveLength(2)
  })

  law('many concurrent enqueues become one run, and each is counted once', async (stage) => {
    await stage.ready()
    const runs = Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? debounced : throttled)(`r${i}`, t0))
    const answers = await Promise.all(runs.map((run) => put(stage, run, t0)))
    expect(answers.filter((answer) => (answer as { created: boolean }).created)).toHaveLength(2)
    const labels = (await stage.store.runs({ limit: 50 })).map((run) => run.labels)
    expect(labels.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)))).toEqual([
      { dropped_enqueues: '9' },
      { replaced_enqueues: '9' },
    ])
  })
}
