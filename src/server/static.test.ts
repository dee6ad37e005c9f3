import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { staticFiles, type StaticFiles } from './static.js'

let folder: string
let answer: StaticFiles

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rota-static-'))
  await mkdir(join(folder, 'public', 'assets'), { recursive: true })
  await writeFile(join(folder, 'secret.js'), 'secret')
  await writeFile(join(folder, 'public', 'index.html'), '<!doctype html>')
  await writeFile(join(folder, 'public', 'notes.txt'), 'not a file of a page')
  await writeFile(join(folder, 'public', 'assets', 'a-1.js'), 'let a = 1\n'.repeat(100))
  answer = staticFiles(pathToFileURL(`${join(folder, 'public')}/`))
})

afterAll(() => rm(folder, { recursive: true }))

const ask = (path: string, headers: Record<string, string> = {}, asked?: string) =>
  answer(new Request(`http://127.0.0.1${path}`, { headers }), { asked })

describe('the files of the dashboard', () => {
  it('are found below any path, compressed if accepted, with a policy that allows no other origin', async () => {
    for (const mount of ['/', '/ops/', '/a/b/']) {
      const page = await ask(mount)
      expect(await page?.text()).toBe('<!doctype html>')
      expect(page?.headers.get('content-security-policy')).toContain("script-src 'self'")
      expect(page?.headers.get('content-security-policy')).toContain("require-trusted-types-for 'script'")
      const file = await ask(`${mount}assets/a-1.js`, { 'accept-encoding': 'gzip, br' })
      expect(file?.headers.get('cache-control')).toContain('immutable')
      expect(gunzipSync(await (file as Response).arrayBuffer()).toString()).toContain('let a = 1')
    }
  })

  it('are not sent again to clients that have them', async () => {
    const etag = (await ask('/'))?.headers.get('etag') ?? ''
    expect((await ask('/', { 'if-none-match': etag }))?.status).toBe(304)
    expect((await ask('/', { 'if-none-match': '"other"' }))?.status).toBe(200)
  })

  it('are the only files: no path leaves their folder', async () => {
    const paths = ['/..%2fsecret.js', '/assets/..%2f..%2fsecret.js', '/secret.js', '/assets/', '/notes.txt']
    for (const path of paths) {
      const text = await (await ask(path))?.text()
      expect([undefined, '<!doctype html>'], path).toContain(text)
    }
  })

  it('redirect to an address that ends in a slash, on the same server', async () => {
    const html = { accept: 'text/html' }
    expect((await ask('/ops', html))?.headers.get('location')).toBe('./ops/')
    expect((await ask('/', html, '/ops'))?.headers.get('location')).toBe('./ops/')
    expect((await ask('/', html, '/ops/?q=1'))?.status).toBe(200)
    expect((await ask('/javascript:alert(1)', html))?.headers.get('location')).toBe('./javascript:alert(1)/')
    expect(await ask('/ops', { accept: 'application/json' })).toBeUndefined()
  })
})
