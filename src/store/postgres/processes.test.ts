import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { PostgresServer } from '../../../test/fixtures/postgres.js'
import { PostgresStores } from '../../../test/fixtures/postgres-store.js'
import { aJob, aRun, aTrigger, Stage, t0 } from '../conformance/stage.js'

const script = fileURLToPath(new URL('fixtures/process.mjs', import.meta.url))
const built = fileURLToPath(new URL('../../../dist/store/postgres/postgres-store.js', import.meta.url))

let server: PostgresServer
let stores: PostgresStores

beforeAll(async () => {
  if (!existsSync(built))
    throw new Error('These processes run the built package: `npm run build` comes first')
  server = await PostgresServer.start()
  stores = await PostgresStores.on(server)
})

afterAll(() => server.stop())

it('G5, G6: no run is claimed by two processes, none is left, and no gate and no queue lets in too many', async () => {
  await withStore(async (stage, { url, schema }) => {
    const queues = [{ name: 'few', concurrency: 3 }]
    await stage.jobs([aJob('work'), aJob('limited', { queue: 'few' })], queues)
    const gates = [{ key: 'narrow', limit: 1 }]
    const runs = [
      ...Array.from({ length: 500 }, (_, i) => aRun(`plain${i}`)),
      ...Array.from({ length: 40 }, (_, i) => aRun(`gated${i}`, { gates })),
      ...Array.from({ length: 60 }, (_, i) => aRun(`limited${i}`, { job: 'limited' })),
    ]
    await stage.enqueue(runs)
    await stores.client.query(watchman(schema))
    const outputs = await Promise.all(['a', 'b', 'c'].map((name) => outputOf(['perform', url, name])))
    expect(outputs.flat().toSorted()).toEqual(runs.map(({ id }) => id).toSorted())
    expect((await stage.store.counts()).done).toBe(600)
    await stores.client.query(`drop trigger watchman on ${schema}.runs`)
  })
})

it('G3: of what several processes record at once each run and each unique key is there once', async () => {
  await withStore(async (stage, { url }) => {
    await stage.jobs([aJob('work')])
    const outputs = await Promise.all(['a', 'b', 'c'].map((name) => outputOf(['enqueue', url, name])))
    const created = outputs.flat()
    expect(new Set(created).size).toBe(created.length)
    expect(created).toHaveLength(70)
    expect((await stage.store.counts()).pending).toBe(70)
  })
})

it('G2, G7: schedulers that race, killed at any instruction, leave cursor and runs in step', async () => {
  await withStore(async (stage, { url }) => {
    await stage.jobs([aJob('work')])
    await stage.trigger(aTrigger('t'), { nextAt: t0 })
    for (const lines of [3, 60]) {
      const said = await Promise.all(
        [lines, lines + 20].map((count) => killedAfter(['plan', url, ''], count)),
      )
      const acknowledged = said.flat().filter((line) => line.startsWith('ticked'))
      const latest = Math.max(...acknowledged.map((line) => Number(line.split(' ')[1])))
      const [trigger] = await stage.store.triggers({ names: ['t'] })
      const cursorAt = trigger?.cursorAt ?? 0
      const window = { trigger: 't', fromAt: t0, untilAt: t0 * 2, limit: 10_000 }
      const instants = (await stage.store.runInstants(window)).map(({ dueAt }) => dueAt)
      expect(instants).toEqual(Array.from({ length: cursorAt - t0 }, (_, i) => t0 + 1 + i))
      expect(cursorAt).toBeGreaterThanOrEqual(latest)
      expect(new Set(acknowledged).size).toBe(acknowledged.length)
    }
  })
})

/** Lets the database itself refuse a claim that would be one too many. */
function watchman(schema: string): string {
  return `create or replace function ${schema}.watchman() returns trigger language plpgsql as $$ begin
      if (select count(*) from ${schema}.runs where state = 3 and gates is not null) > 1
        then raise exception 'too many behind the gate'; end if;
      if (select count(*) from ${schema}.runs where state = 3 and job = 'limited') > 3
        then raise exception 'too many of the queue'; end if;
      return null; end $$;
    create constraint trigger watchman after update on ${schema}.runs deferrable initially deferred
      for each row execute function ${schema}.watchman()`
}

async function withStore(
  use: (stage: Stage, at: { url: string; schema: string }) => Promise<void>,
): Promise<void> {
  const opened = await stores.open()
  try {
    await use(new Stage(opened), opened)
  } finally {
    await opened.dispose()
  }
}

/** What a process says until it ends by itself, which it must do well. */
async function outputOf(args: readonly string[]): Promise<string[]> {
  const child = spawn(process.execPath, [script, ...args])
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const errors: string[] = []
  child.stderr.on('data', (data: Buffer) => errors.push(data.toString()))
  const lines: string[] = []
  for await (const line of createInterface({ input: child.stdout })) lines.push(line)
  expect([await ended, errors.join('')]).toEqual([0, ''])
  return lines
}

/** What a process says until it is killed, right after a number of lines. */
async function killedAfter(args: readonly string[], count: number): Promise<string[]> {
  const child = spawn(process.execPath, [script, ...args])
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const lines: string[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line)
    if (lines.length === count) child.kill('SIGKILL')
  }
  await ended
  return lines
}
