// Checks the budget of the dashboard in a real Chromium, with 50 lanes of 300 marks, and with 100,000 triggers and a
// million runs: first useful paint, the next page, moving and zooming the timeline, scrolling, filtering, and the heap of a
// tab after an hour of live messages and after many pages. Exits with 1 if it exceeds the budget.
// On a quiet machine wall time is judged; on a busy one the CPU time of the page.
// Usage: node bench/dashboard.mjs [--triggers=100000] [--runs=1000000] [--minutes=60] [--only=<part of a name>]
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { chromium } from 'playwright-core'
import { rota } from '../dist/index.js'
import { openSqliteStore } from '../dist/store/sqlite/sqlite-store.js'
import { systemClock } from '../dist/time/clock.js'
import { chromiumPath } from '../scripts/chromium.mjs'
import { heapOf, liveFor, walk } from './dashboard-heap.mjs'
import { defineTriggers, fillRuns, nameOf } from './many-triggers.mjs'

const { values } = parseArgs({
  options: {
    triggers: { type: 'string', default: '100000' },
    runs: { type: 'string', default: '1000000' },
    minutes: { type: 'string', default: '60' },
    only: { type: 'string', default: '' },
  },
})
const hour = 3_600_000
const lanes = 50
const marks = 300
// Pages of the navigation bar, and an element that shows that they are loaded.
const pages = [
  { name: 'Runs', path: '/runs', shown: 'main tbody tr' },
  { name: 'Triggers', path: '/triggers', shown: 'main [role=row] a' },
  { name: 'Now', path: '/', shown: 'main section h2' },
]
const directory = mkdtempSync(join(tmpdir(), 'rota-bench-'))
const isQuiet = loadavg()[0] < 1
const failed = []
const browser = await chromium.launch({
  executablePath: chromiumPath(),
  args: ['--no-sandbox', '--disable-gpu'],
})
process.stdout.write(
  `load ${loadavg()[0].toFixed(1)}: ${isQuiet ? 'wall time' : 'CPU time'} is judged for frames\n`,
)
try {
  if (isWanted('small')) {
    const small = await served('small', { triggers: lanes, overMs: 17 * hour, runs: lanes * marks })
    await part('small, first useful paint', () => firstPaint(small.url))
    await part('small, next page', () => nextPage(small.url))
    await part('small, timeline of 50 lanes × 300 marks', () => timeline(small.url, '24h'))
    await small.app.close()
  }
  if (isWanted('big')) {
    const big = await served('big', {
      triggers: Number(values.triggers),
      overMs: 30 * 24 * hour,
      runs: Number(values.runs),
    })
    await part('big, first useful paint', () => firstPaint(big.url))
    await part('big, next page', () => nextPage(big.url))
    await part('big, timeline of a day', () => timeline(big.url, '24h'))
    await part('big, timeline of a year', () => timeline(big.url, '1y'))
    await part('big, scroll', () => scroll(big.url))
    await part('big, filter', () => filter(big.url))
    await part('big, walk', () => walked(big.url))
    await part('big, hour live', () => hourLive(big))
    await big.app.close()
  }
} finally {
  await browser.close()
  rmSync(directory, { recursive: true, force: true })
}
process.exitCode = failed.length === 0 ? 0 : 1

/** Whether any part of a store is selected. */
function isWanted(store) {
  return values.only === '' || values.only.startsWith(store) || !/^(?:small|big)/.test(values.only)
}

async function part(name, measure) {
  if (!name.includes(values.only)) return
  process.stdout.write(`${name}\n`)
  await measure()
}

/** Compares a number with its budget and prints the result. */
function judge(name, value, budget, unit) {
  const isKept = value <= budget
  if (!isKept) failed.push(name)
  const cells = [
    isKept ? 'PASS' : 'FAIL',
    name.padEnd(44),
    `${value.toFixed(1)} ${unit}`.padStart(10),
    `≤ ${budget} ${unit}`,
  ]
  process.stdout.write(`${cells.join('  ')}\n`)
}

/** The time from the start of the navigation until the first page shows its content. */
async function firstPaint(url) {
  const times = []
  for (let i = 0; i < 5; i += 1) {
    const page = await newPage()
    await page.addInitScript(() => {
      const look = () => {
        if (document.querySelector('main h2') !== null && document.body.innerText.includes('Next 60 minutes'))
          globalThis.usefulMs = performance.now()
        else requestAnimationFrame(look)
      }
      requestAnimationFrame(look)
    })
    await page.goto(url)
    await page.waitForFunction(() => globalThis.usefulMs !== undefined)
    times.push(await page.evaluate(() => globalThis.usefulMs))
    await page.context().close()
  }
  judge('first useful paint, median', percentile(times, 0.5), 1000, 'ms')
}

/** The time from a click in the navigation bar until the rows of the page are there; each page was opened before. */
async function nextPage(url) {
  const page = await newPage()
  await page.goto(url)
  await page.getByText('Next 60 minutes').first().waitFor()
  const times = []
  for (let i = 0; i < 4; i += 1) {
    for (const { name, ...wanted } of pages) {
      const link = page.locator('header nav').getByRole('link', { name, exact: true })
      const took = await link.evaluate(
        (element, wanted) =>
          new Promise((resolve) => {
            const startMs = performance.now()
            element.click()
            const look = () => {
              const isThere =
                location.hash.startsWith(`#${wanted.path}`) && document.querySelector(wanted.shown) !== null
              if (isThere) resolve(performance.now() - startMs)
              else requestAnimationFrame(look)
            }
            requestAnimationFrame(look)
          }),
        wanted,
      )
      if (i > 0) times.push(took)
      await sleep(300)
    }
  }
  judge('next page, p95', percentile(times, 0.95), 100, 'ms')
  await page.context().close()
}

async function timeline(url, range) {
  const page = await newPage({ width: 1440, height: 1440 })
  await page.goto(`${url}/#/timeline?range=${range}`)
  await page.getByRole('application').waitFor()
  await sleep(3000)
  await page.mouse.move(800, 500)
  await page.keyboard.down('Shift')
  judgeFrames('pan', await frames(page, 80, (i) => page.mouse.wheel(0, i % 20 < 10 ? 40 : -40)))
  await page.keyboard.up('Shift')
  await page.keyboard.down('Control')
  judgeFrames('zoom', await frames(page, 80, (i) => page.mouse.wheel(0, i % 20 < 10 ? -30 : 30)))
  await page.keyboard.up('Control')
  judge('heap', (await heapOf(page)) / 1e6, 60, 'MB')
  await page.context().close()
}

async function scroll(url) {
  const page = await newPage()
  await page.goto(`${url}/#/triggers`)
  await page.getByText(nameOf(0)).first().waitFor()
  await page.mouse.move(600, 500)
  judgeFrames('scroll of triggers', await frames(page, 120, () => page.mouse.wheel(0, 240)))
  await page.goto(`${url}/#/timeline?range=24h`)
  await page.getByRole('application').waitFor()
  await sleep(3000)
  await page.mouse.move(800, 500)
  judgeFrames('scroll of lanes', await frames(page, 80, () => page.mouse.wheel(0, 120)))
  await page.context().close()
}

/** The time from the key that sends a filter until the only matching row is shown. */
async function filter(url) {
  const page = await newPage()
  await page.goto(`${url}/#/triggers`)
  await page.getByText(nameOf(0)).first().waitFor()
  const field = page.locator('main').getByRole('combobox')
  const times = []
  for (const i of [77_777, 4321, 99_999, 50_000, 12]) {
    const name = nameOf(Math.min(i, Number(values.triggers) - 1))
    await field.fill(name)
    const began = performance.now()
    await field.press('Enter')
    await page.waitForFunction(
      (wanted) => {
        const names = [...document.querySelectorAll('main [role=row] a')].map(
          ({ textContent }) => textContent,
        )
        return names.length === 1 && names[0] === wanted
      },
      name,
      { polling: 'raf' },
    )
    times.push(performance.now() - began)
  }
  judge('filter of triggers, median', percentile(times, 0.5), 300, 'ms')
  await page.context().close()
}

/** Opens every page twenty times: leaks would add up. */
async function walked(url) {
  const page = await newPage({ width: 1440, height: 900 })
  const { items } = await (await fetch(`${url}/api/v1/runs?state=failed&limit=1`)).json()
  const { first, last } = await walk(page, { url, run: items[0]?.id, trigger: nameOf(5), rounds: 20 })
  judge('heap after the first round of all pages', first / 1e6, 60, 'MB')
  judge('heap after the twentieth', last / 1e6, 60, 'MB')
  await page.context().close()
}

/** An hour of messages in two minutes, on the timeline; runs are recorded meanwhile, so that the answers differ. */
async function hourLive({ url, app }) {
  const page = await newPage({ width: 1440, height: 900 })
  const payloads = Array.from({ length: 20 }, (_, i) => i)
  const more = setInterval(() => void app.enqueueMany('job-1', payloads), 1000)
  const count = Number(values.minutes) * 60 * 4
  const { before, after, answers, close } = await liveFor(page, {
    url,
    path: '/timeline?range=1h',
    count,
    faster: 30,
  })
  clearInterval(more)
  process.stdout.write(
    `      ${count} messages, ${answers} answers; heap before ${(before / 1e6).toFixed(1)} MB\n`,
  )
  judge('heap of the timeline after an hour', after / 1e6, 60, 'MB')
  await page.evaluate(() => (location.hash = '#/'))
  await page.getByText('Next 60 minutes').first().waitFor()
  judge('heap of the first page after it', (await heapOf(page)) / 1e6, 60, 'MB')
  await page.context().close()
  close()
}

/** Repeats an action, and measures the two frames in which it is handled and shown. */
async function frames(page, count, act) {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  const busyMs = async () => {
    const { metrics } = await session.send('Performance.getMetrics')
    return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN) * 1000
  }
  // The page itself measures the time between its frames, without the time of this program.
  await page.evaluate(() => {
    globalThis.gaps = []
    let last = performance.now()
    const note = () => {
      const now = performance.now()
      globalThis.gaps.push(now - last)
      last = now
      globalThis.noting = requestAnimationFrame(note)
    }
    globalThis.noting = requestAnimationFrame(note)
  })
  const cpu = []
  for (let i = 0; i < count; i += 1) {
    const before = await busyMs()
    await act(i)
    await page.evaluate(() => new Promise((over) => requestAnimationFrame(() => requestAnimationFrame(over))))
    cpu.push(((await busyMs()) - before) / 2)
  }
  const wall = await page.evaluate(() => {
    cancelAnimationFrame(globalThis.noting)
    return globalThis.gaps
  })
  await session.detach()
  return { cpu: percentile(cpu, 0.95), wall: percentile(wall, 0.95) }
}

function judgeFrames(name, { cpu, wall }) {
  if (isQuiet) judge(`${name}, frame p95 (CPU ${cpu.toFixed(1)} ms)`, wall, 32, 'ms')
  else judge(`${name}, CPU of a frame p95 (wall ${wall.toFixed(1)} ms)`, cpu, 32, 'ms')
}

function percentile(numbers, share) {
  const sorted = numbers.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN
}

async function newPage(viewport = { width: 1280, height: 800 }) {
  const context = await browser.newContext({ viewport, reducedMotion: 'reduce' })
  return await context.newPage()
}

/** A store with triggers and a history, and a server of its dashboard. */
async function served(name, { triggers, runs, overMs }) {
  const path = join(directory, `${name}.db`)
  const now = systemClock.now()
  const store = await openSqliteStore({ path, durability: 'normal', clock: systemClock })
  const jobs = 50
  const busy = Math.min(triggers, 2000)
  const everyMs = Math.max(1000, Math.round((overMs * busy) / runs))
  const since = now - overMs - 24 * hour
  const nextAt = () => now + 24 * hour
  const began = performance.now()
  await defineTriggers(store, { jobs, triggers, busy, everyMs, now, since, nextAt })
  await store.close()
  fillRuns(path, { jobs, busy, runs, now, overMs })
  const tookS = ((performance.now() - began) / 1000).toFixed(0)
  process.stdout.write(`${name}: ${triggers} triggers and ${runs} runs, stored in ${tookS} s\n`)
  const app = rota({ store: `sqlite:${path}`, app: 'bench' })
  const { port } = await app.listen({ port: 0 })
  return { app, url: `http://127.0.0.1:${port}` }
}
