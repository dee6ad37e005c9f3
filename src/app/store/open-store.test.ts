import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../time/clock.js'
import { openStore } from './open-store.js'

const options = { clock: systemClock, directory: '/', durability: 'normal', create: false } as const

describe('the URL of a store', () => {
  it.each(['files:a\0b', 'sqlite:a\0b', 'files:\0'])('with a NUL in its path is refused: %j', async (url) => {
    await expect(openStore(url, options)).rejects.toMatchObject({
      code: 'STORE_URL',
      message: 'the path of a store contains a NUL character',
    })
  })

  it('in Postgres is refused while PGSSLMODE is a value that the driver would read as no TLS', async () => {
    process.env['PGSSLMODE'] = 'bogus'
    onTestFinished(() => void delete process.env['PGSSLMODE'])
    await expect(openStore('postgres://u@127.0.0.1:1/shop', options)).rejects.toMatchObject({
      code: 'STORE_URL',
      message: expect.stringMatching(/^the variable PGSSLMODE: "bogus" is not known \(allowed: disable, /),
    })
  })
})
