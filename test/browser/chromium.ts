import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { chromium, type BrowserContext, type Page } from 'playwright-core'

/** How a window is opened. */
export interface WindowOptions {
  readonly width?: number
  readonly height?: number
  readonly theme?: 'light' | 'dark'
  readonly zone?: string
}

/** A real browser with a profile of its own, which goes with it. */
export class Browser {
  readonly #context: BrowserContext
  readonly #profile: string
  /** What went wrong in its pages: errors of scripts, and everything that the content security policy refused. */
  readonly troubles: string[] = []

  private constructor(context: BrowserContext, profile: string) {
    this.#context = context
    this.#profile = profile
    context.on('page', (page) => this.#listen(page))
  }

  /** Starts a browser. */
  static async start(options: WindowOptions = {}): Promise<Browser> {
    const profile = mkdtempSync(join(tmpdir(), 'rota-browser-'))
    const { width = 1280, height = 800, theme = 'light', zone = 'UTC' } = options
    const context = await chromium.launchPersistentContext(profile, {
      executablePath: executable(),
      args: flags,
      viewport: { width, height },
      colorScheme: theme,
      timezoneId: zone,
      reducedMotion: 'reduce',
    })
    context.setDefaultTimeout(15_000)
    return new Browser(context, profile)
  }

  /** Opens another tab. */
  async open(url: string): Promise<Page> {
    const page = await this.#context.newPage()
    // Never until the network is quiet: the stream stays open.
    await page.goto(url, { waitUntil: 'domcontentloaded' })
    return page
  }

  /** Ends the browser and removes its profile. */
  async close(): Promise<void> {
    await this.#context.close()
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
]

/** An installed Chromium: `scripts/chromium.mjs`, which `npm test` calls before, installs it where it can. */
function executable(): string {
  const found = process.env['ROTA_CHROMIUM'] ?? installed()
  if (found !== undefined) return found
  throw new Error('no Chromium found: run `node scripts/chromium.mjs`, or name one in ROTA_CHROMIUM')
}

function installed(): string | undefined {
  const names = ['chromium', 'chromium-browser', 'google-chrome']
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
