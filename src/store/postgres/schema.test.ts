import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { migrations, schemaVersion } from './schema.js'

// A digest of each step: existing stores were created by exactly these statements.
const released = [
  '3c9f21f704bb22694035cdc592a602984965809ed4aa193539c63d0a1a937b51',
  '731e71d882fa8cb81e78a08163f5ca4a414476fc8b9e46c7bb5ab96df0d5451f',
  'c41ad12784eca2e40c88a4f5e59533acf98dd57109df9953dbb8aa58c95d9d85',
  '2a876abd3f480816463ac9bbe362bf25519c14b587a1c8ebb4d5c18bffb83ab2',
  '61ea163378b8c27a83436276babfa3ad5eb629a476e2bb975638c500f9c73530',
  'd637dd994b326dfdfdaaefe080c4064d96d35d592e3aa3319f8534e16f5108db',
  'ad58e69811dbcdfc51723b515c00bfb78a3b1980af257ac10a9d2a6f2a5e48a6',
  '744184e34a5942d9d14f1d54ec6ea3de186060ddf30f51b6b305a7dfc6b8a063',
  'c4700e540c2d2208b7f9e55c7400928f62550e31903a9318e0621527570882b7',
  'ae5ccb085f2a73b29bacacbcbce4dd53ad206dd0715229d4bf9eaddfaf93d511',
  'a18d6f033b3d99d22204dc0855685d2d59adc0dc0f421bb5f4157e75db56beb6',
  'e1a9f389d3adcdf367a7198e9a83afeeca9cd2b401f2ac2b35ce3de7737915d0',
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
