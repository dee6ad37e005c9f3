import { expect, it } from 'vitest'
import { RotaError } from '../../kernel/definition/errors.js'
import { openMemoryStore } from '../../store/memory/memory-store.js'
import { withRenameHint } from './rename-hint.js'
import { defineJob } from '../../kernel/job/define-job.js'

const conflict = new RotaError('DEFINITION_CONFLICT', 'taken')

async function hintFor(owners: Readonly<Record<string, string>>, source: string): Promise<string> {
  const store = openMemoryStore()
  for (const [name, owner] of Object.entries(owners)) {
    const jobs = [defineJob(name, { command: ['true'] })]
    await store.defineJobs({ source: owner, jobs, queues: [], now: 0 })
  }
  const error = await withRenameHint(conflict, { store, source, names: Object.keys(owners) })
  return (error as Error).message
}

it('names the app to set if all names belong to one other app of the same kind', async () => {
  expect(await hintFor({ a: 'config:rel1', b: 'config:rel2' }, 'config:rel2')).toBe(
    'taken; if that app was renamed, set app: rel1 in the config',
  )
  expect(await hintFor({ a: 'code:app' }, 'code:shop')).toBe(
    "taken; if that app was renamed, set app: 'app' among the options of rota()",
  )
})

it('gives no hint if another kind of source or more than one owns them', async () => {
  expect(await hintFor({ a: 'api' }, 'config:rel2')).toBe('taken')
  expect(await hintFor({ a: 'code:app' }, 'config:rel2')).toBe('taken')
  expect(await hintFor({ a: 'config:x', b: 'config:y' }, 'config:z')).toBe('taken')
})

it('does not change other errors', async () => {
  const other = new Error('else')
  expect(await withRenameHint(other, { store: openMemoryStore(), source: 'config:a', names: [] })).toBe(other)
})
