import { expect, it } from 'vitest'
import { TimeError, timeErrorCodes } from './time-error.js'

it('every code has a meaning of one sentence', () => {
  for (const meaning of Object.values(timeErrorCodes)) expect(meaning).toMatch(/^[A-Z].+[a-z0-9]\.$/)
})

it('an error has a code, a position and the allowed values', () => {
  const error = new TimeError('CRON_RANGE', 'hour 24 is not within 0-23', { position: 2, allowed: '0-23' })
  expect(error).toBeInstanceOf(Error)
  expect(error).toMatchObject({ name: 'TimeError', code: 'CRON_RANGE', position: 2, allowed: '0-23' })
  expect(new TimeError('CRON_NEVER', 'never').position).toBeUndefined()
})
