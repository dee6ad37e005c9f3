import { expect, test } from 'vitest'
import { toRotaError } from './errors.js'

test.each([
  ['57014', 'canceling statement due to statement timeout', 'STORE_BUSY', 'statement_timeout'],
  ['55P03', 'canceling statement due to lock timeout', 'STORE_BUSY', 'another process holds the store'],
  ['25P04', 'terminating connection due to transaction timeout', 'STORE_AWAY', 'cannot be reached'],
  ['53200', 'out of memory', 'STORE_BUSY', 'lacks memory'],
  ['53300', 'sorry, too many clients already', 'STORE_AWAY', 'max_connections'],
  ['53100', 'could not extend file', 'STORE_FULL', 'disk'],
])('%s (%s) is %s', (state, message, code, part) => {
  const error = toRotaError(Object.assign(new Error(message), { code: state }), 'postgres://here')
  expect(error).toMatchObject({ code, message: expect.stringContaining(part) as string })
})

test.each([
  ['Client has encountered a connection error and is not queryable', 'the connection was lost'],
  ['Connection terminated unexpectedly', 'the connection was lost'],
  ['Query read timeout', 'no answer in time'],
])('%s of the driver becomes STORE_AWAY with a plain message', (message, words) => {
  expect(toRotaError(new Error(message), 'postgres://here')).toMatchObject({
    code: 'STORE_AWAY',
    message: `postgres://here: the database cannot be reached (Postgres: ${words})`,
  })
})
