// Writes screenshots of every page of the dashboard to docs/images: starts the quick start in its own directory, waits
// until it has data, and opens a real Chromium (the one in ROTA_CHROMIUM, or the first one on the path).
import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { chromiumPath } from './chromium.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const images = join(root, 'docs', 'images')
const seconds = Number(process.argv[2] ?? 75)
const mostBytes = 170_000

const directory = mkdtempSync(join(tmpdir(), 'rota-screenshots-'))
const place = join(directory, 'examples', 'quickstart')
mkdirSync(place, { recursive: true })
cpSync(join(root, 'examples', 'quickstart'), place, { recursive: true })
const rota = spawn(process.execPath, [join(root, 'dist', 'cli', 'main.js'), 'up', '--port', '0'], {
  cwd: place,
  env: { ...process.env, TZ: 'UTC', XDG_STATE_HOME: directory },
})
try {
  const url = await addressOf(rota)
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
  mkdirSync(images, { recursive: true })
  await takeAll(url)
} finally {
  rota.kill('SIGKILL')
  rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
}

/** The address that the program prints. */
function addressOf({ stdout }) {
  return new Promise((resolve) => {
    let text = ''
    stdout.setEncoding('utf8').on('data', (more) => {
      text += more
      const [found] = /http:\/\/127\.0\.0\.1:\d+/.exec(text) ?? []
      if (found !== undefined) resolve(found)
    })
  })
}

async function takeAll(url) {
  const { items } = await (await fetch(`${url}/api/v1/runs?state=failed&limit=1`)).json()
  const failed = items[0]?.id
  const browser = await chromium.launch({
    executablePath: chromiumPath(),
    args: ['--no-sandbox', '--disable-gpu'],
  })
  const take = async ({ name, path, theme = 'light', width = 1280, height = 800 }) => {
    const page = await browser.newPage({
      viewport: { width, height },
      colorScheme: theme,
      timezoneId: 'Europe/Berlin',
    })
    await page.goto(`${url}/#${path}`)
    await page.waitForTimeout(2500)
    await page.locator('[role=progressbar]').waitFor({ state: 'detached', timeout: 120_000 })
    const file = join(images, `${name}.png`)
    await page.screenshot({ path: file })
    await page.close()
    const { size } = statSync(file)
    console.log(`${name}.png ${Math.round(size / 1000)} kB`)
    if (size > mostBytes) throw new Error(`${file} has more than ${mostBytes} bytes`)
  }
  // The quick start has no sensor.
  for (const path of pagePaths().filter((one) => one !== '/sensors/:name')) {
    const filled = path.replace(':id', failed).replace(':name', 'tick').replace(/:\w+/, '')
    const [, name = ''] = /^\/?(.*?)\/?$/.exec(path.replace(/:\w+/, 'one')) ?? []
    const asked = path === '/simulate' ? '?days=1&run=yes' : ''
    await take({ name: name === '' ? 'now' : name.replaceAll('/', '-'), path: `${filled}${asked}` })
  }
  await take({ name: 'now-dark', path: '/', theme: 'dark' })
  await take({ name: 'now-narrow', path: '/', width: 360, height: 780 })
  await take({ name: 'why', path: '/?why=new-year@2026-01-01T00:00:00Z' })
  await browser.close()
}

/** The paths of all pages, from their list. */
function pagePaths() {
  const text = readFileSync(join(root, 'dashboard', 'src', 'pages', 'index.ts'), 'utf8')
  return [...text.matchAll(/path: '([^']+)'/g)].map(([, path]) => path)
}
