import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { HttpSpec } from '../kernel/job/job.js'
import type { SecretRef } from '../kernel/definition/secret-text.js'
import type { SecretPlaces } from '../outbound/secrets.js'
import { performHttp } from './perform-http.js'

let server: Server
let seen: IncomingHttpHeaders[]
let directory: string

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'rota-http-'))
  seen = []
  server = createServer(({ headers }, response) => {
    seen.push(headers)
    response.end(`${headers.authorization}, ${String(headers['x-plain'])}`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})

afterEach(() => {
  server.closeAllConnections()
  server.close()
  rmSync(directory, { recursive: true })
})

describe('a request with headers from variables and files', () => {
  it('reads them in the process that sends it, and masks them in the result', async () => {
    writeFileSync(join(directory, 'plain'), 'of-a-file\n')
    const headers = { Authorization: { env: 'TOKEN', prefix: 'Bearer ' }, 'X-Plain': { file: 'plain' } }
    const places = { environment: { TOKEN: 'abc.def' }, directory }
    expect(await perform(headers, places)).toEqual({ status: 200, body: '***, ***' })
    expect(seen[0]).toMatchObject({ authorization: 'Bearer abc.def', 'x-plain': 'of-a-file' })
  })

  it.each<[SecretRef, object]>([
    [
      { env: 'TOKEN' },
      { code: 'SECRET_MISSING', message: 'X: the variable TOKEN is not set in this process' },
    ],
    [{ env: 'EMPTY' }, { code: 'SECRET_MISSING', message: 'X: the variable EMPTY is empty in this process' }],
    [{ env: 'LINES' }, { code: 'HANDLER_FAILED', message: 'X: its text cannot be sent in a header' }],
    [
      { file: 'empty' },
      { code: 'SECRET_MISSING', message: expect.stringMatching(/empty does not contain text$/) },
    ],
    [{ file: '/dev/zero' }, { code: 'SECRET_MISSING' }],
    [
      { file: '/nowhere/token' },
      {
        code: 'SECRET_MISSING',
        message: 'X: the secret in /nowhere/token cannot be read: there is no such file',
      },
    ],
  ])('is not sent if %j is missing', async (ref, error) => {
    writeFileSync(join(directory, 'empty'), '\n')
    const environment = { EMPTY: '', LINES: 'a\nb: c' }
    await expect(perform({ X: ref }, { environment, directory })).rejects.toMatchObject(error)
    expect(seen).toEqual([])
  })
})

function perform(headers: HttpSpec['headers'], places: SecretPlaces): ReturnType<typeof performHttp> {
  const { port } = server.address() as AddressInfo
  const run = {
    id: 'run-1',
    job: 'job',
    trigger: undefined,
    attempt: 1,
    isLastAttempt: true,
    dueAt: 0,
    partition: undefined,
    payload: undefined,
  }
  return performHttp(
    { kind: 'http', url: `http://127.0.0.1:${port}/`, headers },
    {
      run,
      signal: new AbortController().signal,
      log: () => undefined,
      privateTargets: 'allow',
      ...places,
    },
  )
}
