import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { root } from '../repository.js'
import { stores } from './served.js'
import { site } from './site.js'

const config = `
jobs:
  greet: { command: ['true'] }
triggers:
  nightly: { job: greet, cron: '0 2 * * *' }
`

const ranks = ['read', 'operate', 'admin'] as const

/** Every route of the API and the role that it needs, read from the OpenAPI document. */
const routes = Object.entries(
  (
    JSON.parse(readFileSync(join(root, 'docs/reference/openapi.json'), 'utf8')) as {
      paths: Record<string, Record<string, { description?: string }>>
    }
  ).paths,
).flatMap(([path, methods]) =>
  Object.entries(methods).flatMap(([method, { description = '' }]) => {
    const needed = ranks.find((role) => description.includes(`Needs the role ${role}.`))
    return needed === undefined ? [] : [{ method, path, needed }]
  }),
)

describe.each(stores)('on %s', (store) => {
  const { served, browser } = site({ store, config })

  /** Opens a tab whose requests seem to come from another machine: the server asks for a token. */
  async function openFromElsewhere(path: string, address = '203.0.113.7'): Promise<Page> {
    const page = await browser.open('about:blank')
    await page.setExtraHTTPHeaders({ 'x-forwarded-for': address })
    await page.goto(`${served.url}/#${path}`, { waitUntil: 'domcontentloaded' })
    return page
  }

  async function signIn(page: Page, token: string): Promise<void> {
    await page.getByLabel('Token').fill(token)
    await page.getByRole('button', { name: 'Sign in' }).click()
  }

  /** Sends a POST request from the page, and returns its status. */
  async function send(page: Page, path: string, body: unknown = {}): Promise<number> {
    return await page.evaluate(
      async ([url = '', text = '']) => {
        const headers = { 'content-type': 'application/json' }
        return (await fetch(url, { method: 'POST', headers, body: text })).status
      },
      [`./api/v1${path}`, JSON.stringify(body)],
    )
  }

  it('a reader sees disabled buttons with the reason, and the server refuses their requests', async () => {
    const { token, id } = await served.client('POST /tokens', { body: { name: 'ana', role: 'read' } })
    const page = await openFromElsewhere('/triggers/nightly')
    await signIn(page, token ?? '')
    await page.getByRole('heading', { name: 'nightly' }).waitFor()
    for (const name of [/^Run now…/, /^Pause…/, /^Edit…/]) {
      const button = page.getByRole('button', { name })
      expect(await button.getAttribute('aria-disabled')).toBe('true')
      expect(await button.getAttribute('title')).toContain('ana has the role read')
    }
    // The shortcut of the button does nothing either.
    await page.keyboard.press('p')
    expect(await page.getByRole('dialog').count()).toBe(0)
    expect(await send(page, '/triggers/nightly/pause')).toBe(403)
    expect(await send(page, '/freeze')).toBe(403)

    await page.goto(`${served.url}/#/settings?tab=tokens`)
    await page.getByText('Tokens are for admins').waitFor()

    // Revoking a token ends its sessions.
    await served.client('DELETE /tokens/{id}', { path: { id } })
    expect(await send(page, '/triggers/nightly/pause')).toBe(401)
  }, 60_000)

  it('an operator may pause but not freeze; an admin creates a token, which is shown once', async () => {
    const operator = await served.client('POST /tokens', { body: { name: 'olga', role: 'operate' } })
    const page = await openFromElsewhere('/triggers/nightly')
    await signIn(page, operator.token ?? '')
    const pause = page.getByRole('button', { name: /^Pause…/ })
    await pause.waitFor()
    expect(await pause.getAttribute('aria-disabled')).toBe(null)
    expect(await send(page, '/freeze')).toBe(403)
    await page.goto(`${served.url}/#/settings?tab=about`)
    await page.getByText('olga, operate').waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Token').waitFor()
    expect(await send(page, '/triggers/nightly/pause')).toBe(401)
    // The next tab is local and has no session.
    await page.close()

    const admin = await browser.open(`${served.url}/#/settings?tab=tokens`)
    await admin.getByRole('button', { name: 'New token…' }).click()
    const dialog = admin.getByRole('dialog')
    await dialog.getByLabel('name').fill('ci')
    await dialog.getByRole('button', { name: 'Create' }).click()
    const secret = (await dialog.getByText(/^rota_/).textContent()) ?? ''
    const asCi = await fetch(`${served.url}/api/v1/session`, {
      headers: { authorization: `Bearer ${secret}`, 'x-forwarded-for': '203.0.113.7' },
    })
    expect(await asCi.json()).toMatchObject({ actor: 'ci', role: 'read' })
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    await admin.getByRole('cell', { name: 'ci', exact: true }).waitFor()
    expect(await admin.getByText(secret).count()).toBe(0)
  }, 60_000)

  it.each(ranks)('the role %s is refused by every route that needs more, and by no other', async (role) => {
    const { token, id } = await served.client('POST /tokens', { body: { name: `walker-${role}`, role } })
    const wrong: string[] = []
    for (const { method, path, needed } of routes) {
      const mayUse = ranks.indexOf(role) >= ranks.indexOf(needed)
      // Allowed changes and streams are skipped: they would change the store, or not end.
      if (mayUse && (method !== 'get' || path.endsWith('/stream'))) continue
      const response = await fetch(`${served.url}${path.replaceAll(/\{\w+\}/g, 'x')}`, {
        method: method.toUpperCase(),
        headers: {
          authorization: `Bearer ${token}`,
          'x-forwarded-for': '203.0.113.7',
          'content-type': 'application/json',
        },
        ...(method === 'get' ? {} : { body: '{}' }),
      })
      await response.body?.cancel()
      if ((response.status === 403) === mayUse) wrong.push(`${method} ${path}: ${response.status}`)
    }
    expect(wrong).toEqual([])
    await served.client('DELETE /tokens/{id}', { path: { id } })
  })

  it('under a foreign name that resolves to this machine a page can read and change nothing', async () => {
    const page = await browser.open(served.url.replace('127.0.0.1', 'rebound.example'))
    const read = await page.evaluate(async () => {
      const response = await fetch('./api/v1/runs')
      return [response.status, await response.text()] as const
    })
    expect(read).toEqual([403, expect.stringContaining('HOST_REFUSED')])
    expect(await send(page, '/freeze')).toBe(403)
    await page.close()
  })

  it('after five wrong tokens within a minute an address has to wait', async () => {
    const page = await openFromElsewhere('/', '203.0.113.9')
    await page.getByLabel('Token').waitFor()
    const statuses: number[] = []
    for (let tries = 0; tries < 6; tries += 1)
      statuses.push(await send(page, '/session', { token: `rota_wrong_${tries}` }))
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429])
    await signIn(page, 'rota_wrong_again')
    await page.getByText(/too many wrong tokens/).waitFor()
    await page.close()
  })

  it('another site cannot send a request with the session of a user', async () => {
    // A page of another origin: the same server, addressed as localhost.
    const page = await browser.open(served.url.replace('127.0.0.1', 'localhost'))
    const outcome = await page.evaluate(async (url) => {
      try {
        const response = await fetch(url, { method: 'POST', mode: 'no-cors', body: '{}' })
        return `answered ${response.type}`
      } catch {
        return 'refused by the browser'
      }
    }, `${served.url}/api/v1/freeze`)
    expect(outcome).toMatch(/refused|opaque/)
    expect((await served.client('GET /holds')).items).toEqual([])
  })
})

it('the roles of the routes were read', () => {
  expect(new Set(routes.map(({ needed }) => needed))).toEqual(new Set(ranks))
  expect(routes.length).toBeGreaterThan(60)
})
