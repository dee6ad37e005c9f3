import { expect } from 'vitest'
import type { HoldTarget } from '../../../kernel/hold/hold.js'
import type { Job } from '../../../kernel/job/job.js'
import type { Claim, ClaimRequest, Finished } from '../../port.js'
import { aJob, aRun, aRunOf, aTrigger, minute, outcomes, t0, type Law, type Stage } from '../stage.js'

/** Concurrency limits that runs share. */
export function slotLaws(law: Law): void {
  law('a limit admits as many runs as it has slots; the others wait and name the limit', async (stage) => {
    const job = aJob('work', { concurrency: 2 })
    await stage.jobs([job])
    await stage.worker('w')
    await stage.enqueue([aRunOf(job, '1'), aRunOf(job, '2'), aRunOf(job, '3')])
    expect(await waits(stage, ['1', '2', '3'])).toEqual([undefined, undefined, 'job:work'])
    expect(await claimed(stage, t0)).toEqual(['1', '2'].map((label) => aRun(label).id))
    expect(await claimed(stage, t0)).toEqual([])
  })

  law('a free slot admits the most urgent waiting run', async (stage) => {
    const job = aJob('work', { concurrency: 1 })
    await stage.jobs([job])
    await stage.worker('w')
    await stage.enqueue([
      aRunOf(job, 'first'),
      aRunOf(job, 'later', { runAt: t0 }),
      aRunOf(job, 'earlier', { runAt: t0 - 5 }),
      aRunOf(job, 'urgent', { priority: 1 }),
    ])
    const order: string[] = []
    for (let i = 0; i < 4; i++) {
      const claim = await stage.claimOne('w', t0)
      order.push(claim.run)
      await stage.finish('w', claim, { outcome: outcomes.done, at: t0 })
    }
    expect(order).toEqual(['first', 'urgent', 'earlier', 'later'].map((label) => aRun(label).id))
  })

  law('every way out of ready and running frees the slots', async (stage) => {
    const job = aJob('work', { concurrency: 1 })
    await stage.jobs([job])
    await stage.worker('w')
    const labels = ['done', 'failed', 'later', 'lost', 'back', 'cancelled', 'last']
    await stage.enqueue(labels.map((label) => aRunOf(job, label)))
    const ends = [
      outcomes.done,
      outcomes.failed,
      outcomes.again(t0 + minute),
      outcomes.lost(t0 + minute),
      outcomes.released(t0 + minute),
    ]
    for (const outcome of ends) {
      const claim = await stage.claimOne('w', t0)
      await stage.finish('w', claim, { outcome, at: t0 })
    }
    expect(await waits(stage, ['cancelled', 'last'])).toEqual([undefined, 'job:work'])
    await stage.store.cancel({ run: aRun('cancelled').id, now: t0, reason: '' })
    expect(await claimed(stage, t0)).toEqual([aRun('last').id])
  })

  law(
    'runs that end in one turn admit as many as the limit allows, for each slot separately',
    async (stage) => {
      const job = aJob('work', { concurrencyPerKey: 2 })
      await stage.jobs([job])
      await stage.worker('w')
      const keyed = (key: string, count: number) =>
        Array.from({ length: count }, (_, i) => aRunOf(job, `${key}${i}`, { concurrencyKey: key }))
      await stage.enqueue([...keyed('a', 5), ...keyed('b', 3), ...keyed('c', 2)])
      const claims = await stage.claim('w', t0)
      expect(claims).toHaveLength(6)
      await stage.jobs([{ ...job, concurrencyPerKey: 1 }])
      const ends = claims.map(({ run, attempt }, i) => ({
        run,
        attempt,
        outcome: i === 3 ? outcomes.failed : outcomes.done,
        startedAt: t0,
        endedAt: t0,
      }))
      expect((await stage.turn('w', t0, ends)).finished).toEqual(ends.map(() => 'stored'))
      expect(await waits(stage, ['a2', 'a3', 'a4', 'b2'])).toEqual([
        undefined,
        'key:work=a',
        'key:work=a',
        undefined,
      ])
      // The counts are right now: none of c is left, and one of a.
      await stage.enqueue([...keyed('d', 1), aRunOf(job, 'c2', { concurrencyKey: 'c' })])
      expect(await claimed(stage, t0)).toEqual(['a2', 'b2', 'd0', 'c2'].map((label) => aRun(label).id))
    },
  )

  law(
    'runs that end in one turn admit one that waits for several slots, and no more than the limits allow',
    async (stage) => {
      const job = aJob('work', { concurrency: 3, concurrencyPerKey: 1 })
      await stage.jobs([job])
      await stage.worker('w')
      const labels = ['a0', 'b0', 'c0', 'a1', 'a2', 'b1', 'd0', 'e0']
      await stage.enqueue(labels.map((label) => aRunOf(job, label, { concurrencyKey: label.charAt(0) })))
      const order: string[][] = []
      for (;;) {
        const claims = await stage.claim('w', t0)
        if (claims.length === 0) break
        order.push(claims.map(({ run }) => run))
        const ends = claims.map(({ run, attempt }) => ({ run, attempt, outcome: outcomes.done }))
        await stage.turn(
          'w',
          t0,
          ends.map((end) => ({ ...end, startedAt: t0, endedAt: t0 })),
        )
      }
      expect(order.flat().toSorted()).toEqual(labels.map((label) => aRun(label).id).toSorted())
      expect(order.map((together) => together.length)).toEqual([3, 3, 2])
    },
  )

  law('a turn claims the runs that its ends admit, in one order with the ready ones', async (stage) => {
    const job = aJob('work', { concurrency: 2 })
    await stage.jobs([job, aJob('free')])
    await stage.worker('w')
    await stage.enqueue([aRunOf(job, 'a'), aRunOf(job, 'b')])
    const ends = endsOf(await stage.claim('w', t0))
    await stage.enqueue([
      aRunOf(job, 'last'),
      aRunOf(job, 'first', { priority: 5, payload: { at: 'once' } }),
      aRun('between', { job: 'free', priority: 3 }),
    ])
    const claimRequest = { jobs: ['work', 'free'], slots: 3, prefetch: 0 }
    const { claims, finished } = await stage.store.turn({
      worker: 'w',
      now: t0,
      finished: ends,
      claimRequest,
    })
    expect(finished).toEqual(['stored', 'stored'])
    expect(claims.map(({ run }) => run)).toEqual(['first', 'between', 'last'].map((label) => aRun(label).id))
    expect(claims[0]).toMatchObject({ attempt: 1, payload: { at: 'once' }, isLimited: true })
    expect(await waits(stage, ['first', 'last'])).toEqual([undefined, undefined])
    expect((await stage.turn('w', t0, endsOf(claims))).finished).toEqual(['stored', 'stored', 'stored'])
  })

  law('runs that a turn admits and does not claim are ready for others', async (stage) => {
    const job = aJob('work', { concurrency: 2 })
    await stage.jobs([job, aJob('free')])
    await stage.worker('other')
    const all: ClaimRequest = { jobs: ['free', 'work'], slots: 9, prefetch: 0 }
    const turns: Record<string, { claimRequest: ClaimRequest | undefined; held?: HoldTarget; left: number }> =
      {
        silent: { claimRequest: undefined, left: 2 },
        full: { claimRequest: { ...all, slots: 0 }, left: 2 },
        almost: { claimRequest: { ...all, slots: 1 }, left: 1 },
        elsewhere: { claimRequest: { ...all, jobs: ['free'] }, left: 2 },
        'held-workers': { claimRequest: all, held: 'switch:worker', left: 2 },
        'held-queue': { claimRequest: all, held: 'queue:default', left: 2 },
        late: { claimRequest: all, left: 2 },
      }
    for (const [name, { claimRequest, held: target, left }] of Object.entries(turns)) {
      await stage.worker(name, t0, name === 'late' ? 1 : undefined)
      await stage.enqueue([1, 2, 3, 4].map((i) => aRunOf(job, `${name}${i}`)))
      const finished = endsOf(await stage.claim(name, t0))
      expect(finished).toHaveLength(2)
      const now = name === 'late' ? t0 + 2 : t0
      if (target !== undefined) await stage.store.hold({ target, now, actor: 'me', note: '' })
      const { claims } = await stage.store.turn({ worker: name, now, finished, claimRequest })
      if (target !== undefined) await stage.store.release({ target, now, catchUp: false })
      expect([name, claims.length]).toEqual([name, 2 - left])
      const rest = await stage.claim('other', now)
      expect([name, rest.length]).toEqual([name, left])
      await stage.turn('other', now, endsOf([...claims, ...rest]))
    }
  })

  law('many ends at one slot and few at others in one turn admit as many at each', async (stage) => {
    const jobs = [aJob('many', { concurrency: 3 }), aJob('keyed')]
    const [many, keyed] = jobs as [Job, Job]
    await stage.jobs(jobs)
    await stage.worker('w')
    await stage.enqueue([1, 2, 3, 4, 5, 6, 7].map((i) => aRunOf(many, `m${i}`)))
    for (const key of ['a', 'b'])
      await stage.enqueue([1, 2, 3].map((i) => aRunOf(keyed, `${key}${i}`, { concurrencyKey: key })))
    const claim = async (finished: readonly Finished[]) => {
      const claimRequest = { jobs: ['many', 'keyed'], slots: 20, prefetch: 0 }
      return (await stage.store.turn({ worker: 'w', now: t0, finished, claimRequest })).claims
    }
    const idsOf = (labels: readonly string[]) => labels.map((each) => aRun(each).id).toSorted()
    let claims: readonly Claim[] = []
    for (const expected of [
      ['m1', 'm2', 'm3', 'a1', 'b1'],
      ['m4', 'm5', 'm6', 'a2', 'b2'],
      ['m7', 'a3', 'b3'],
    ]) {
      claims = await claim(endsOf(claims))
      expect(claims.map(({ run }) => run).toSorted()).toEqual(idsOf(expected))
    }
  })

  law('runs that a turn admits count for their queue, whichever of many jobs they have', async (stage) => {
    const job = aJob('work', { concurrency: 2, queue: 'q' })
    const more = Array.from({ length: 40 }, (_, i) => aJob(`more${i}`))
    const define = (concurrency: number) =>
      stage.jobs([job, aJob('beside', { queue: 'q' }), ...more], [{ name: 'q', concurrency }])
    await define(3)
    await stage.worker('w')
    await stage.enqueue([1, 2, 3, 4].map((i) => aRunOf(job, `${i}`)))
    await stage.enqueue([aRun('beside', { job: 'beside' })])
    const jobs = ['beside', ...more.map(({ name }) => name), 'work']
    const claim = async (finished: readonly Finished[]) => {
      const claimRequest = { jobs, slots: 9, prefetch: 0 }
      return (await stage.store.turn({ worker: 'w', now: t0, finished, claimRequest })).claims
    }
    const claims = await claim([])
    expect(claims).toHaveLength(3)
    await define(2)
    const [beside, ...both] = claims.toSorted((a, b) => a.job.localeCompare(b.job))
    const next = await claim(endsOf(both))
    expect(next.map(({ run }) => run)).toEqual([aRun('3').id])
    expect(await claim([])).toEqual([])
    expect((await claim(endsOf([beside as Claim]))).map(({ run }) => run)).toEqual([aRun('4').id])
  })

  law('runs that a turn admits start only if their rate limit allows it', async (stage) => {
    const limit = { max: 1, perMs: minute, burst: 3 }
    const job = aJob('work', { concurrency: 2, limit })
    await stage.jobs([job])
    await stage.worker('w')
    await stage.enqueue([1, 2, 3, 4].map((i) => aRunOf(job, `${i}`)))
    const finished = endsOf(await stage.claim('w', t0))
    expect(finished).toHaveLength(2)
    const claimRequest = { jobs: ['work'], slots: 9, prefetch: 0 }
    const { claims } = await stage.store.turn({ worker: 'w', now: t0, finished, claimRequest })
    expect(claims.map(({ run }) => run)).toEqual([aRun('3').id])
    expect((await stage.claim('w', t0 + minute)).map(({ run }) => run)).toEqual([aRun('4').id])
  })

  law('a failed run leaves its slot to others while it waits, and then waits behind them', async (stage) => {
    const job = aJob('work', { concurrency: 1 })
    await stage.jobs([job])
    await stage.worker('w')
    await stage.enqueue([aRunOf(job, 'a'), aRunOf(job, 'b')])
    const a = await stage.claimOne('w', t0)
    await stage.finish('w', a, { outcome: outcomes.again(t0 + 5), at: t0 })
    const b = await stage.claimOne('w', t0)
    expect(b.run).toBe(aRun('b').id)
    expect(await claimed(stage, t0 + 5)).toEqual([])
    expect(await waits(stage, ['a'])).toEqual(['job:work'])
    await stage.finish('w', b, { outcome: outcomes.done, at: t0 + 6 })
    expect(await claimed(stage, t0 + 6)).toEqual([aRun('a').id])
  })

  law('a released run goes behind those that waited for its slot', async (stage) => {
    const job = aJob('work', { concurrency: 1 })
    await stage.jobs([job])
    await stage.worker('w')
    await stage.enqueue([aRunOf(job, 'a', { priority: 9 }), aRunOf(job, 'b')])
    const a = await stage.claimOne('w', t0)
    await stage.finish('w', a, { outcome: outcomes.released(t0), at: t0 })
    expect(await waits(stage, ['a', 'b'])).toEqual(['job:work', undefined])
  })

  law('a run takes all its slots or none', async (stage) => {
    const job = aJob('work', { concurrency: 2, concurrencyPerKey: 1 })
    await stage.jobs([job])
    await stage.worker('w')
    await stage.enqueue([
      aRunOf(job, 'x1', { concurrencyKey: 'x' }),
      aRunOf(job, 'x2', { concurrencyKey: 'x' }),
      aRunOf(job, 'y1', { concurrencyKey: 'y' }),
      aRunOf(job, 'y2', { concurrencyKey: 'y' }),
    ])
    // x2 waits for its key and has not taken a slot of the job, so y1 has it.
    expect(await waits(stage, ['x1', 'x2', 'y1', 'y2'])).toEqual([
      undefined,
      'key:work=x',
      undefined,
      'job:work',
    ])
    const [x1] = await stage.claim('w', t0, { slots: 1 })
    await stage.finish('w', x1 ?? { run: '', attempt: 0 }, { outcome: outcomes.done, at: t0 })
    const waiting = await waits(stage, ['x2', 'y1', 'y2'])
    expect(waiting.filter((key) => key === undefined)).toHaveLength(2)
  })

  law('a run that meets another full limit waits there, and the next run is tried', async (stage) => {
    await stage.ready()
    const [a, b] = [
      { key: 'a', limit: 1 },
      { key: 'b', limit: 1 },
    ]
    await stage.enqueue([
      aRun('holds a', { slots: [a] }),
      aRun('holds b', { slots: [b] }),
      aRun('wants both', { slots: [a, b] }),
      aRun('wants a', { slots: [a] }),
    ])
    expect(await waits(stage, ['wants both', 'wants a'])).toEqual(['a', 'a'])
    await stage.store.cancel({ run: aRun('holds a').id, now: t0, reason: '' })
    expect(await waits(stage, ['wants both', 'wants a'])).toEqual(['b', undefined])
    await stage.store.cancel({ run: aRun('holds b').id, now: t0, reason: '' })
    expect(await waits(stage, ['wants both'])).toEqual(['a'])
    await stage.store.cancel({ run: aRun('wants a').id, now: t0, reason: '' })
    expect(await waits(stage, ['wants both'])).toEqual([undefined])
  })

  law('a delayed run takes no slot before its runAt', async (stage) => {
    const job = aJob('work', { concurrency: 1 })
    await stage.jobs([job])
    await stage.worker('w')
    await stage.enqueue([aRunOf(job, 'later', { runAt: t0 + minute }), aRunOf(job, 'now')])
    expect(await claimed(stage, t0)).toEqual([aRun('now').id])
    expect(await claimed(stage, t0 + minute)).toEqual([])
    expect(await waits(stage, ['later'])).toEqual(['job:work'])
  })

  law('a higher limit admits waiting runs immediately; a lower one stops no run', async (stage) => {
    const job = aJob('work', { concurrency: 1, concurrencyPerKey: 1 })
    await stage.jobs([job])
    await stage.worker('w')
    await stage.enqueue(['1', '2', '3', '4'].map((label) => aRunOf(job, label)))
    await stage.jobs([{ ...job, concurrency: 3 }])
    expect(await waits(stage, ['1', '2', '3', '4'])).toEqual([undefined, undefined, undefined, 'job:work'])
    await stage.jobs([{ ...job, concurrency: 1 }])
    const claims = await stage.claim('w', t0)
    expect(claims).toHaveLength(3)
    for (const claim of claims.slice(0, 2)) await stage.finish('w', claim, { outcome: outcomes.done, at: t0 })
    expect(await waits(stage, ['4'])).toEqual(['job:work'])
    await stage.finish('w', claims[2] ?? { run: '', attempt: 0 }, { outcome: outcomes.done, at: t0 })
    expect(await waits(stage, ['4'])).toEqual([undefined])
  })

  law('limits per key, and a removed limit, follow the definition, too', async (stage) => {
    const job = aJob('work', { concurrency: 2, concurrencyPerKey: 1 })
    await stage.jobs([job])
    await stage.enqueue(['1', '2', '3'].map((label) => aRunOf(job, label, { concurrencyKey: 'k' })))
    expect(await waits(stage, ['1', '2', '3'])).toEqual([undefined, 'key:work=k', 'key:work=k'])
    await stage.jobs([{ ...job, concurrencyPerKey: 5 }])
    expect(await waits(stage, ['1', '2', '3'])).toEqual([undefined, undefined, 'job:work'])
    await stage.jobs([{ ...job, concurrency: undefined, concurrencyPerKey: 5 }])
    expect(await waits(stage, ['1', '2', '3'])).toEqual([undefined, undefined, undefined])
  })

  law('a limit that changed while it was unused applies to earlier runs', async (stage) => {
    const job = aJob('work', { concurrency: 1 })
    await stage.jobs([job])
    const labels = ['1', '2', '3']
    await stage.enqueue(labels.map((label) => aRunOf(job, label, { runAt: t0 + minute })))
    await stage.jobs([{ ...job, concurrency: 2 }])
    await stage.worker('w')
    await stage.turn('w', t0 + minute)
    expect(await waits(stage, labels)).toEqual([undefined, undefined, 'job:work'])
  })

  law('G6: retries, manual runs and due instants of one trigger share its slot', async (stage) => {
    await stage.ready()
    await stage.trigger(aTrigger('t', { overlap: 'queue-all' }))
    await stage.tick('t', t0 + 2 * minute)
    await stage.enqueue([
      aRun('by hand', { trigger: 't', origin: 'manual', slots: [{ key: 'trigger:t', limit: 1 }] }),
    ])
    const seen = new Set<string>()
    for (let now = t0 + 2 * minute; seen.size < 3; now += 10) {
      const claims = await stage.claim('w', now)
      expect(claims).toHaveLength(1)
      const [claim] = claims
      if (claim === undefined) return
      const outcome = claim.attempt === 1 ? outcomes.again(now + 10) : outcomes.done
      if (outcome === outcomes.done) seen.add(claim.run)
      await stage.finish('w', claim, { outcome, at: now })
    }
  })

  law('G7: running and waiting runs are the same after reopening', async (stage) => {
    const job = aJob('work', { concurrency: 1 })
    await stage.jobs([job])
    await stage.worker('w')
    await stage.enqueue([aRunOf(job, '1'), aRunOf(job, '2')])
    const claim = await stage.claimOne('w', t0)
    await stage.reopen()
    expect(await waits(stage, ['2'])).toEqual(['job:work'])
    await stage.finish('w', claim, { outcome: outcomes.done, at: t0 })
    expect(await claimed(stage, t0)).toEqual([aRun('2').id])
  })
}

function endsOf(claims: readonly Claim[]): Finished[] {
  return claims.map(({ run, attempt }) => ({
    run,
    attempt,
    outcome: outcomes.done,
    startedAt: t0,
    endedAt: t0,
  }))
}

async function waits(stage: Stage, labels: readonly string[]): Promise<(string | undefined)[]> {
  return await Promise.all(labels.map(async (label) => (await stage.run(aRun(label).id)).waitsFor))
}

async function claimed(stage: Stage, now: number): Promise<string[]> {
  return (await stage.claim('w', now)).map(({ run }) => run)
}
