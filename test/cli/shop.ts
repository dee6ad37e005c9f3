import { join } from 'node:path'
import { expect } from 'vitest'
import { createApp } from '../../src/app/rota.js'
import { runHere } from './in-process.js'
import { emptyDirectory, tooWide, type Ended } from './rota.js'

/** Whoever gives the commands. */
const environment = { USER: 'tester' }

/** The store of a small app: a done, a failed and a pending run. */
export interface Shop {
  readonly store: string
  readonly doneId: string
  readonly failedId: string
  readonly waitingId: string
  /** Runs a command on the store. */
  on(...args: string[]): Promise<Ended>
  /** The output of a command, which must succeed and fit 80 columns without escape codes. */
  printed(...args: string[]): Promise<string>
  /** The JSON output of a command, which must succeed. */
  json<T = Record<string, unknown>>(...args: string[]): Promise<T>
}

/** Creates such a store. */
export async function openShop(): Promise<Shop> {
  const store = `sqlite:${join(emptyDirectory(), 'rota.db')}`
  const ids = await fill(store)
  const on = async (...args: string[]): Promise<Ended> => {
    const end = args.includes('--') ? args.indexOf('--') : args.length
    const words = [...args.slice(0, end), '--store', store, ...args.slice(end)]
    return await runHere(words, { directory: emptyDirectory(), environment })
  }
  return {
    store,
    ...ids,
    on,
    printed: async (...args) => {
      const { code, stdout, stderr } = await on(...args)
      expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' })
      expect(tooWide(stdout)).toEqual([])
      expect(stdout).not.toContain('\u001b')
      return stdout
    },
    json: async (...args) => {
      const { code, stdout, stderr } = await on(...args, '--json')
      expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' })
      return JSON.parse(stdout)
    },
  }
}

async function fill(store: string): Promise<{ doneId: string; failedId: string; waitingId: string }> {
  const app = createApp({ store, lease: '2s' }, 'config:shop')
  const greet = app.job('greet', (run) => {
    run.log('hello\u001b[31m')
    return { greeted: true }
  })
  const broken = app.job('broken', () => {
    throw new Error('the disk is made of cheese, which is a very long message for a table')
  })
  app.job('later', { command: ['node', '-e', ''], queue: 'slow' })
  app.schedule('nightly', { job: greet, cron: '0 2 * * *', timezone: 'America/New_York' })
  app.schedule('a-trigger-with-quite-a-long-name-indeed', { job: broken, every: '1h' })
  app.schedule('welcome', { job: greet, at: '2026-01-01T00:00:00Z' })
  await app.start()
  const doneId = (await app.enqueue(greet, { name: 'world' })).id
  const failedId = (await app.enqueue(broken)).id
  const waitingId = (await app.enqueue('later', undefined, { delay: '1h', uniqueKey: 'k' })).id
  await Promise.all([app.runs.wait(doneId), app.runs.wait(failedId)])
  const welcome = (await app.runs.list({ trigger: 'welcome' }))[0]
  if (welcome !== undefined) await app.runs.wait(welcome.id)
  await app.stop()
  return { doneId, failedId, waitingId }
}
