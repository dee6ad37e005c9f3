import { writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPostgresStore } from '../../src/store/postgres/postgres-store.js'
import { systemClock } from '../../src/time/clock.js'
import { Certificates, hasOpenssl } from '../fixtures/certificates.js'
import { freePort } from '../fixtures/machine.js'
import { PostgresServer } from '../fixtures/postgres.js'

if (!hasOpenssl) console.log('skipped: TLS is tested with certificates that openssl makes, which is not here')

describe.skipIf(!hasOpenssl)('a server that requires TLS', () => {
  let server: PostgresServer
  let certificates: Certificates

  beforeAll(async () => {
    certificates = new Certificates()
    const rules = `${certificates.authority}.hba`
    writeFileSync(rules, 'local all all password\nhostssl all all all password\n')
    server = await PostgresServer.start({
      port: await freePort(),
      settings: {
        ssl: 'on',
        ssl_cert_file: certificates.certificate,
        ssl_key_file: certificates.key,
        hba_file: rules,
      },
    })
  })

  afterAll(async () => {
    await server.stop()
    certificates.remove()
  })

  it.each([
    ['sslmode=verify-full with its authority', () => ({ sslmode: 'verify-full', ...known() })],
    ['sslmode=require with its authority', () => ({ sslmode: 'require', ...known() })],
    ['sslmode=no-verify without', () => ({ sslmode: 'no-verify' })],
    ['sslmode=require as libpq means it', () => ({ sslmode: 'require', uselibpqcompat: 'true' })],
    [
      'sslmode=verify-ca for another name, as libpq means it',
      () => ({ sslmode: 'verify-ca', uselibpqcompat: 'true', host: '127.0.0.1', ...known() }),
    ],
  ])('is used with %s', async (_name, options) => {
    const store = await openPostgresStore({ url: address(options()), clock: systemClock })
    const client = await server.connect(server.url('postgres'))
    const { rows } = await client.query(
      `select distinct ssl from pg_stat_ssl join pg_stat_activity using (pid) where application_name = 'rota'`,
    )
    await server.release(client)
    await store.close()
    expect(rows).toEqual([{ ssl: true }])
  })

  it.each([
    ['no authority', () => ({ sslmode: 'verify-full' }), /sslrootcert=<file>/],
    [
      'another authority',
      () => ({ sslmode: 'verify-full', sslrootcert: certificates.otherAuthority }),
      /sslrootcert=/,
    ],
    ['another name', () => ({ sslmode: 'verify-full', host: '127.0.0.1', ...known() }), /for another host/],
    [
      'a file that is missing',
      () => ({ sslmode: 'verify-full', sslrootcert: '/no/ca.crt' }),
      /\/no\/ca\.crt/,
    ],
    ['no TLS', () => ({}), /pg_hba\.conf .*`sslmode`/],
  ])('is refused with %s, at once and with what to do', async (_name, options, todo) => {
    const url = address(options())
    const refusal: unknown = await openPostgresStore({ url, clock: systemClock }).catch(
      (error: unknown) => error,
    )
    expect(refusal).toMatchObject({ code: 'STORE_URL', message: expect.stringMatching(todo) as unknown })
    expect(String(refusal)).not.toContain(':rota@')
  })

  function known() {
    return { sslrootcert: certificates.authority }
  }

  /** The address over the network of this machine. */
  function address(options: Readonly<Record<string, string>>): string {
    const url = new URL(server.url('postgres'))
    url.search = new URLSearchParams(options).toString()
    return url.href
  }
})

it('a server without TLS is refused if the address requires TLS', async () => {
  const server = await PostgresServer.start({ port: await freePort() })
  const url = server.url('postgres').replace(/\?.*/, '?sslmode=verify-full')
  const refusal = openPostgresStore({ url, clock: systemClock })
  await expect(refusal).rejects.toMatchObject({
    code: 'STORE_URL',
    message: expect.stringContaining('does not support TLS') as unknown,
  })
  await server.stop()
})
