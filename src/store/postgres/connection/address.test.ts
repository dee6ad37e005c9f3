import { describe, expect, it } from 'vitest'
import { listenerOf, readAddress, shownAddress } from './address.js'

describe('an address', () => {
  it('passes the options that are not Rota’s own to the driver', () => {
    const address = readAddress(
      'postgresql://u:p%40ss@db:6432/shop?schema=My%20Shop&connections=9&prepare=on&listen=postgres%3A%2F%2Fu%3Ap@db%2Fshop&sslmode=verify-full',
    )
    expect(address).toMatchObject({
      connectionString: 'postgresql://u:p%40ss@db:6432/shop?sslmode=verify-full',
      listen: 'postgres://u:p@db/shop',
      schema: 'My Shop',
      connections: 9,
      prepare: 'on',
    })
  })

  it('may omit the host of a socket', () => {
    expect(readAddress('postgres://u:p@/shop?host=/run/postgresql').connectionString).toBe(
      'postgres://u:p@localhost/shop?host=%2Frun%2Fpostgresql',
    )
  })

  it.each([
    ['prepare=yes', /prepare is on, off or auto/],
    ['connections=1', /from 2 to 100/],
    ['listen=db', /listen is an address/],
    ['schema=', /1 to 58 bytes/],
    [
      'sslmode=verify-fulll',
      /sslmode "verify-fulll" is not known \(allowed: disable, .*verify-full, no-verify\)/,
    ],
  ])('with %s is refused', (options, says) => {
    expect(() => readAddress(`postgres://u@db/shop?${options}`)).toThrow(says)
  })

  it.each([
    'postgres://u:secret@db/shop',
    'postgres://u@db/shop?password=secret&sslpassword=secret',
    'postgres://u@db/shop?listen=postgres://u:secret@db/shop',
    'postgres://u:1#secret@db/shop',
    'postgres://u:/secret@db/shop',
    'postgres://u:se%cret:secret@db/shop',
    'postgres://u:sec ret:secret@db:port/shop',
  ])('is shown without a possible password: %s', (given) => {
    expect(shownAddress(given)).not.toContain('secret')
  })
})

describe('the listener', () => {
  const plain = readAddress('postgres://u@db/shop')
  const named = readAddress('postgres://u@pool/shop?listen=postgres://u@db/shop')

  it('is where the store is, nowhere behind a pooler, and where it is said to be', () => {
    expect(listenerOf(plain, false)).toBe(plain.connectionString)
    expect(listenerOf(plain, true)).toBeUndefined()
    expect(listenerOf(named, true)).toBe('postgres://u@db/shop')
  })
})
