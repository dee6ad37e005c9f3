import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { migrations, schemaVersion } from './schema.js'

// A digest of each step: existing stores were created by exactly these statements.
const released = [
  '41f8ba821e53307df8facdf52df0fad9280fafab542173b845cac00e32690d38',
  'bab876f636f100c8f52055bb98f2d42484a95b1926f3b64aa9541d24eafb72a9',
  '2317c60c04ee3a9e1d7b537d8721e592e457b98259f73295c87ee0031f3942d2',
  '5295bf895a53825ad45bcfb3068c560ef9944c15924e148b5f0ca51e0fe6b78a',
  '1958f4b356106bc46166735489da472fa3ce0fd0caa937a614dbdf08cc00fdfd',
  '75a15ba2d016c6698f07ca2f9c9561e01de5cbd87e1944b152fad1d93094851c',
]

test('a released step of the schema never changes', () => {
  expect(migrations.map(digestOf)).toEqual(released)
})

test('steps follow each other by one, and the last is the schema of this code', () => {
  expect(migrations.map(({ version }) => version)).toEqual(migrations.map((_, index) => index + 1))
  expect(migrations.at(-1)?.version).toBe(schemaVersion)
})

function digestOf({ statements }: { statements: readonly string[] }): string {
  return createHash('sha256').update(statements.join('\n;\n')).digest('hex')
}
