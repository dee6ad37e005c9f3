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

/** A real browser with a temporary profile. */
export class Browser {
  readonly #options: WindowOptions
  readonly #profile = mkdtempSync(join(tmpdir(), 'rota-browser-'))
  #context: BrowserContext | undefined
  /** Script errors in its pages, and violations of the content security policy. */
  readonly troubles: string[] = []

  constructor(options: WindowOptions = {}) {
    this.#options = options
  }

  /** Starts the browser. */
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
    this.#context.setDefaultTimeout(30_000)
    this.#context.on('page', (page) => this.#listen(page))
  }

  /** Opens another tab. */
  async open(url: string): Promise<Page> {
    if (this.#context === undefined) throw new Error('the browser is not started')
    const page = await this.#context.newPage()
    // Not `networkidle`: the event stream stays open.
    await page.goto(url, { waitUntil: 'domcontentloaded' })
    return page
  }

  /** The open tabs. */
  get tabs(): readonly Page[] {
    return this.#context?.pages() ?? []
  }

  /** Closes all tabs but these: each goes on drawing what happens, which costs CPU time. */
  async closeTabs(kept: readonly Page[] = []): Promise<void> {
    await Promise.all(this.tabs.filter((page) => !kept.includes(page)).map((page) => page.close()))
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
      // Some tests stop the server, and requests fail meanwhile.
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
  // A foreign name that resolves to this machine, as in a DNS rebinding attack.
  '--host-resolver-rules=MAP rebound.example 127.0.0.1',
]

/** The path of an installed Chromium. `npm test` runs `scripts/chromium.mjs` first, which installs one if it can. */
function executable(): string {
  const found = chromiumPath()
  if (found !== undefined) return found
  throw new Error('no Chromium found: run `node scripts/chromium.mjs`, or name one in ROTA_CHROMIUM')
}
