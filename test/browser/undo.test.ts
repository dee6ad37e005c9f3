import type { Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { hasFeatures } from '../features.js'
import { selectLane } from './select-lane.js'
import { site } from './site.js'

const config = `
jobs:
  greet: { command: ['true'] }
  mailed: { command: ['true'], queue: mail }
  slow: { command: [sleep, '120'] }
  broken: { command: [sh, -c, 'exit 3'] }
triggers:
  nightly: { job: greet, cron: '0 2 * * *' }
  failing: { job: broken, cron: '0 2 * * *' }
${hasFeatures('rounds') ? 'rounds:\n  housekeeping: { every: 20s, services: [greet] }' : ''}
${hasFeatures('assets') ? "assets:\n  report: { partitions: { kind: daily, start: 2026-01-01 }, queue: default, command: ['true'] }" : ''}
${hasFeatures('sensors') ? "sensors:\n  watch: { type: http, url: 'http://127.0.0.1:9/', every: 5s, job: greet }" : ''}
`

/** The reason of an undo in the audit. */
const undone = 'undone in the dashboard'

const { served, browser } = site({ config })
let page: Page

beforeAll(async () => {
  page = await browser.open(served.url)
}, 60_000)

/** Opens a page of the dashboard in the same tab. */
async function go(path: string): Promise<void> {
  await page.goto(`${served.url}/#${path}`)
}

/** Makes a change: clicks a button, enters a reason, confirms the dialog, and waits for the message. */
async function change(
  button: string | RegExp,
  action: string,
  told: string | RegExp,
  within: Page | Locator = page,
): Promise<void> {
  await within.getByRole('button', { name: button }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Reason').fill('a try')
  await dialog.getByRole('button', { name: action, exact: true }).click()
  await page.getByRole('status').getByText(told).waitFor()
  await dialog.waitFor({ state: 'detached' })
}

/** Undoes the last change with its shortcut. */
async function undo(): Promise<void> {
  await page.keyboard.press('u')
  await page.getByRole('status').getByText('Undone.').waitFor()
}

/** Pauses or resumes the default queue. While it is paused, no run starts before its undo. */
async function pauseDefaultQueue(isTrue: boolean): Promise<void> {
  const path = { name: 'default' }
  await served.client(isTrue ? 'POST /queues/{name}/pause' : 'POST /queues/{name}/resume', { path, body: {} })
}

async function holdOf(target: string) {
  const { items } = await served.client('GET /holds')
  return items.find((hold) => hold.target === target)
}

async function reasonsOf(target: string): Promise<readonly (string | null)[]> {
  const { items } = await served.client('GET /audit', { query: { target } })
  return items.map(({ reason }) => reason)
}

describe('a change is undone', () => {
  it('of a queue: undo ends a pause, and restores an ended one with its reason and its end', async () => {
    await go('/queues')
    await change('Pause…', 'Pause', 'Paused the queue default.')
    expect(await holdOf('queue:default')).toMatchObject({ note: 'a try' })
    await undo()
    expect(await holdOf('queue:default')).toBeUndefined()
    expect(await reasonsOf('queue:default')).toEqual([undone, 'a try'])

    const until = '2099-01-01T00:00:00Z'
    const path = { name: 'mail' }
    const body = { reason: 'smtp is down', until }
    await page.getByRole('button', { name: 'Resume…' }).waitFor({ state: 'detached' })
    await served.client('POST /queues/{name}/pause', { path, body })
    await change('Resume…', 'Resume', 'Resumed the queue mail.')
    await undo()
    expect(await holdOf('queue:mail')).toMatchObject({ note: 'smtp is down', untilAt: until })

    // Another user ends the pause meanwhile: the dialog stays as it was opened.
    await page.getByRole('button', { name: 'Resume…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Resume the queue mail?' })
    await dialog.waitFor()
    await served.client('POST /queues/{name}/resume', { path, body: {} })
    await page.getByRole('button', { name: 'Resume…', includeHidden: true }).waitFor({ state: 'detached' })
    expect(await dialog.count()).toBe(1)
    await page.keyboard.press('Escape')
  })

  it('of a process: undo ends a drain, and restores an ended one', async () => {
    // A drained process without a run in progress exits.
    const { id } = await served.client('POST /runs', { body: { job: 'slow' } })
    await served.until(id, 'running')
    await go('/queues')
    await change('Drain…', 'Drain', /takes no more runs/)
    await undo()
    const { items } = await served.client('GET /workers')
    expect(items.map(({ isDraining }) => isDraining)).toEqual([false])

    const path = { target: items[0]?.id ?? '' }
    await served.client('POST /workers/{target}/drain', { path })
    await change('Undrain…', 'Undrain', /takes runs again/)
    await undo()
    const drained = await served.client('GET /workers')
    expect(drained.items.map(({ isDraining }) => isDraining)).toEqual([true])
    await served.client('POST /workers/{target}/undrain', { path })
  })

  it('of a switch: undo turns it on again, and off again with its reason', async () => {
    await go('/settings')
    const body = { isOn: false, reason: 'works on the disks' }
    await served.client('POST /switches/{name}', { path: { name: 'worker' }, body })
    await change('Turn on…', 'Turn on', 'Workers: turned on.')
    await undo()
    expect(await holdOf('switch:worker')).toMatchObject({ note: 'works on the disks' })
    await change('Turn on…', 'Turn on', 'Workers: turned on.')
    await change('Turn off…', 'Turn off', 'Everything: turned off.')
    await undo()
    expect((await served.client('GET /holds')).items).toEqual([])
  })

  it('of a freeze: undo ends it', async () => {
    await go('/settings')
    await change('Freeze…', 'Freeze', 'Frozen: due times are held back.')
    await undo()
    expect(await holdOf('all')).toBeUndefined()
  })

  it('of a run: undo cancels a retried run, and makes a cancelled run pending again', async () => {
    await pauseDefaultQueue(true)
    const delayed = await served.client('POST /runs', { body: { job: 'broken', delay: '1h' } })
    await go(`/runs/${delayed.id}`)
    await change('Cancel…', 'Cancel the run', 'The run is cancelled.')
    await undo()
    await served.until(delayed.id, 'pending')
    await served.client('POST /runs/{id}/cancel', { path: { id: delayed.id }, body: {} })
    await change('Retry…', 'Retry', 'The run is pending again.')
    await undo()
    await served.until(delayed.id, 'cancelled')
    expect(await reasonsOf(`run:${delayed.id}`)).toEqual([undone, 'a try', null, undone, 'a try'])

    await go('/triggers/nightly')
    await change('Run now…', 'Run now', 'A run of nightly is on its way.')
    await undo()
    const { items } = await served.client('GET /runs', { query: { trigger: 'nightly' } })
    expect(items.map(({ state }) => state)).toEqual(['cancelled'])

    await go(`/runs/${delayed.id}`)
    await change('Run again…', 'Run again', 'A new run was recorded.')
    const again = new URL(page.url()).hash.split('/').at(-1) ?? ''
    expect(again).not.toBe(delayed.id)
    await undo()
    await served.until(again, 'cancelled')
    expect(await reasonsOf(`run:${again}`)).toEqual([undone])
    await pauseDefaultQueue(false)
  })

  it('of a retry on the timeline: undo cancels the retried runs', async () => {
    const path = { name: 'failing' }
    const failed = [
      await served.client('POST /triggers/{name}/run', { path }),
      await served.client('POST /triggers/{name}/run', { path }),
    ]
    for (const { id } of failed) await served.until(id, 'failed')
    await pauseDefaultQueue(true)
    await go('/timeline?range=1h&q=failing')
    await selectLane(page, 'failing')
    await change('Retry 2', 'Retry', '2 runs are retried.')
    for (const { id } of failed) await served.until(id, 'pending')
    await undo()
    for (const { id } of failed) await served.until(id, 'cancelled')
    await pauseDefaultQueue(false)
  })

  it.runIf(hasFeatures('assets'))(
    'of a partition and a backfill: undo cancels runs that have not started',
    async () => {
      await pauseDefaultQueue(true)
      const made = async () => (await served.client('GET /runs', { query: { job: 'report' } })).items
      await go('/assets?asset=report')
      const missing = page
        .getByRole('group', { name: 'Partitions' })
        .getByRole('button', { name: /: missing$/ })
      await missing.first().click()
      await change('Make it now…', 'Make it', /^A run for .* is on its way\.$/)
      expect((await made()).map(({ state }) => state)).toEqual(['pending'])
      await undo()
      expect((await made()).map(({ state }) => state)).toEqual(['cancelled'])

      await missing.nth(1).click()
      await page.keyboard.press('Shift+ArrowRight')
      await page.getByText(/^2 partitions, /).waitFor()
      await change('Plan a backfill…', 'Start 2', 'Started a backfill of 2 partitions.')
      await undo()
      const { items } = await served.client('GET /backfills')
      expect(items.map(({ state, total }) => [state, total])).toEqual([['cancelled', 2]])
      await pauseDefaultQueue(false)
    },
  )

  it('of an edit: undo also restores limits that the new rule does not have', async () => {
    const catchUp = { mode: 'all', maxRuns: 7, maxAge: '1h' }
    await served.client('POST /triggers', {
      body: { triggers: { added: { job: 'greet', every: '1h', catchUp } } },
    })
    await go('/triggers/added')
    await page.getByRole('button', { name: 'Edit…' }).click()
    const dialog = page.getByRole('dialog')
    // Nothing is changed yet.
    expect(await dialog.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
    await dialog.getByLabel('Catch-up').selectOption('skip')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved added.').waitFor()
    await undo()
    expect(await served.client('GET /triggers/{name}', { path: { name: 'added' } })).toMatchObject({
      catchUp: { mode: 'all', maxRuns: 7, maxAgeMs: 3_600_000 },
    })
  })

  it.runIf(hasFeatures('rounds'))('of a round: undo restores the interval of a service', async () => {
    await go('/rounds')
    await page.getByRole('button', { name: 'Edit the interval of greet' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Interval').fill('5m')
    await dialog.getByText('Every 5m.').waitFor()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('greet runs every 5m.').waitFor()
    await undo()
    await vi.waitFor(async () => {
      const { items } = await served.client('GET /services')
      expect(items.map(({ intervalSeconds }) => intervalSeconds)).toEqual([20])
    })
  })

  it.runIf(hasFeatures('rounds'))(
    'of a round: undo restarts a stopped round, and stops a started one',
    async () => {
      const path = { name: 'errands' }
      await served.client('PUT /rounds/{name}', { path, body: { every: '1h', services: ['greet'] } })
      const stateOf = async () => (await served.client('GET /rounds/{name}', { path })).state
      await go('/rounds?all=true')
      const panel = page.getByRole('region', { name: 'errands' })
      await change('Stop…', 'Stop', 'Stopped the round errands.', panel)
      expect(await stateOf()).toBe('stopped')
      await undo()
      expect(await stateOf()).toBe('on')
      await served.client('POST /rounds/{name}/stop', { path })
      await change('Start…', 'Start', 'Started the round errands.', panel)
      expect(await stateOf()).toBe('on')
      await undo()
      expect(await stateOf()).toBe('stopped')
    },
  )

  it('of a saved view: undo removes it', async () => {
    await go('/runs?q=state:failed+job:broken')
    await page.getByRole('button', { name: 'Save view…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('status').getByText(/Saved/).waitFor()
    await undo()
    await page.getByRole('button', { name: 'Save view…' }).waitFor()
    expect(browser.troubles).toEqual([])
  })
})

it.runIf(hasFeatures('sensors'))('a sensor whose polls fail is listed on the first page', async () => {
  await go('/')
  const needs = page.getByRole('region', { name: 'Needs you' })
  await needs.getByText(/sensor, .* failed/).waitFor()
  await needs.getByRole('link', { name: 'watch' }).click()
  await page.getByRole('heading', { name: 'watch' }).waitFor()
})

it('the search accepts typing immediately, and opens the result', async () => {
  await go('/')
  await page.getByRole('region', { name: 'Needs you' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.type('nightly')
  await page.getByRole('option', { name: 'nightly' }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'nightly' }).waitFor()
})
