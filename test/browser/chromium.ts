import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type BrowserContext, type Page } from 'playwright-core'
import { chromiumPath } from '../../scripts/chromium.mjs'

/** How a window is opened. */
export interface WindowOptions {
  readonly width?: number
  readonly height?: number
  readonly theme?: 'light' | 'dark'
  readonly zone?: string
}

/** A real browser with a profile of its own, which goes with it. */
export class Browser {
  readonly #options: WindowOptions
  readonly #profile = mkdtempSync(join(tmpdir(), 'rota-browser-'))
  #context: BrowserContext | undefined
  /** What went wrong in its pages: errors of scripts, and everything that the content security policy refused. */
  readonly troubles: string[] = []

  constructor(options: WindowOptions = {}) {
    this.#options = options
  }

  /** Starts it. */
  async start(): Promise<void> {
    const { width = 1280, height = 800, theme = 'light', zone = 'UTC' } = this.#options
    this.#context = await chromium.launchPersistentContext(this.#profile, {
      executablePath: executable(),
      args: flags,
      viewport: { width, height },
      colorScheme: theme,
      timezoneId: zone,
      reducedMotion: 'reduce',
    })
    this.#context.setDefaultTimeout(15_000)
    this.#context.on('page', (page) => this.#listen(page))
  }

  /** Opens another tab. */
  async open(url: string): Promise<Page> {
    if (this.#context === undefined) throw new Error('the browser is not started')
    const page = await this.#context.newPage()
    // Never until the network is quiet: the stream stays open.
    await page.goto(url, { waitUntil: 'domcontentloaded' })
    return page
  }

  /** Ends the browser and removes its profile. */
  async close(): Promise<void> {
    await this.#context?.close()
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5 })
  }

  #listen(page: Page): void {
    page.on('pageerror', (error) => this.troubles.push(error.message))
    page.on('console', (message) => {
      const text = message.text()
      // A request that fails while its server is away is what some tests are about.
      if (message.type() === 'error' && !text.includes('Failed to load resource')) this.troubles.push(text)
    })
  }
}

const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // A name of somebody else that points to this machine, as in an attack by DNS.
  '--host-resolver-rules=MAP rebound.example 127.0.0.1',
]

/** An installed Chromium: `scripts/chromium.mjs`, which `npm test` calls before, installs it where it can. */
function executable(): string {
  const found = chromiumPath()
  if (found !== undefined) return found
  throw new Error('no Chromium found: run `node scripts/chromium.mjs`, or name one in ROTA_CHROMIUM')
}
