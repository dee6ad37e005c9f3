import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { migrations, schemaVersion } from './schema.js'

// A digest of each step as it was released, however much of the code that it is put together from changes.
const released = ['6716b1c041bb8ee5b729fe92aa1b87c36339b71219fa4a9b69cb37aab644ac86']

test('a released step of the schema stays word for word', () => {
  expect(migrations.slice(0, released.length).map(digestOf)).toEqual(released)
})

test('steps follow each other by one, and the last is the schema of this code', () => {
  expect(migrations.map(({ version }) => version)).toEqual(migrations.map((_, index) => index + 1))
  expect(migrations.at(-1)?.version).toBe(schemaVersion)
})

function digestOf({ statements }: { statements: readonly string[] }): string {
  return createHash('sha256').update(statements.join('\n;\n')).digest('hex')
}
