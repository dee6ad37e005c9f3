import type { ChangeOptions } from '../../kernel/audit/change-options.js'
import { refuse, RotaError } from '../../kernel/definition/errors.js'
import { placeOf, shown } from '../../kernel/definition/faults.js'
import type { Json } from '../../kernel/definition/json.js'
import { noneNamed } from '../../kernel/definition/read-value.js'
import { randomRunId } from '../../kernel/identity/identity.js'
import { namedText } from '../../text/error-text.js'
import type { AppContext, StartingApp } from '../app-context.js'
import { addChannel } from './channel-job.js'
import {
  readChannel,
  readRule,
  type AlertRule,
  type Channel,
  type ChannelInput,
  type RuleInput,
} from './definition.js'
import { checkChannels, ownAlerts, type OwnAlerts } from './own.js'
import type { AlertStatus } from './status.js'

/** What became of a test message. */
export interface AlertTest {
  readonly channel: string
  readonly kind: Channel['kind']
  readonly isSent: boolean
  /** What the receiver said, or why it was not sent. */
  readonly result: Json
  readonly tookMs: number
}

/** The part of the app that routes and commands use. */
export interface AlertsApp {
  readonly alerts: Alerts
}

/** How long a test may take. */
const testMs = 30_000

/** `app.alerts`: which problems are reported to which channels. */
export class Alerts {
  readonly #context: AppContext

  constructor(context: AppContext) {
    this.#context = context
    context.definitions.addCheck(checkChannels(this.#own))
    const write = (app: StartingApp): Promise<void> => this.#write(app)
    context.join({ prepare: write, redefine: write })
  }

  /** Read again with each use: a reload gives the app other alerts. */
  get #own(): OwnAlerts {
    return this.#context.definitions.part(ownAlerts)
  }

  async #write({ store, guard, roles }: StartingApp): Promise<void> {
    if (!roles.scheduler) return
    const { storedAlerts, writeAlerts } = await import('./rules.js')
    const { definitions, source } = this.#context
    const alerts = storedAlerts(definitions, this.#own)
    await writeAlerts(store, { source, alerts, now: guard.now() })
  }

  /** Defines where messages go. */
  channel(name: string, input: ChannelInput): void {
    this.#context.assertNotStarted('a channel')
    const place = placeOf()
    const read = readChannel({ name, input }, place)
    refuse(`channel ${shown(name)}`, place.faults)
    addChannel({ name, channel: (read as readonly [string, Channel])[1] }, this.#context)
  }

  /** Defines which problems are reported to which channels. */
  rule(name: string, input: RuleInput): void {
    this.#context.assertNotStarted('a rule')
    const place = placeOf()
    const rule = readRule({ name, input }, place)
    refuse(`rule ${shown(name)}`, place.faults)
    this.#own.rules.set(name, rule as AlertRule)
  }

  /** The rules and channels of every app of the store: what was sent last, what waits and what is quiet. */
  async list(): Promise<AlertStatus> {
    const { alertStatus } = await import('./status.js')
    return await alertStatus(await this.#context.store(), this.#context.now())
  }

  /** Sends a test message through one channel of this app, or through all of them, and returns the results. */
  async test(
    name: string | undefined,
    options: ChangeOptions & { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<readonly AlertTest[]> {
    const { signal, ...change } = options
    const channels = this.#named(name)
    const asked = {
      operation: 'test alert',
      target: name ?? 'all channels',
      outcome: (tests: readonly AlertTest[]) => (tests.every(({ isSent }) => isSent) ? 'sent' : 'not sent'),
      options: change,
      audit: { action: 'alert.test', target: `alerts:${name ?? '*'}`, subjects: [] },
    }
    return await this.#context.change(asked, async (store, now) => {
      if (change.dryRun === true) {
        const untried = { isSent: false, result: 'dry run', tookMs: 0 }
        return channels.map(([channel, { kind }]) => ({ channel, kind, ...untried }))
      }
      const tests = await Promise.all(channels.map(([channel, spec]) => this.#test(channel, spec, signal)))
      // The audit entry is written together with these state changes.
      const changes = tests.map(({ channel, isSent }) => {
        return { kind: 'alert', name: 'tested', item: channel, value: { at: now, isSent } } as const
      })
      await store.changeState({ changes, now })
      return tests
    })
  }

  #named(name: string | undefined): readonly (readonly [string, Channel])[] {
    const all = [...this.#own.channels]
    const known = all.map(([each]) => each)
    const found = name === undefined ? all : all.filter(([each]) => each === name)
    if (found.length > 0) return found
    if (known.length === 0) {
      const which = name === undefined ? 'channel' : `channel ${namedText(name)}`
      throw new RotaError('CHANNEL_UNKNOWN', `no ${which}: this app defines none under \`alerts.channels\``)
    }
    throw new RotaError(
      'CHANNEL_UNKNOWN',
      noneNamed('channel', name ?? '', { known, list: 'rota alert list' }),
    )
  }

  async #test(name: string, channel: Channel, given: AbortSignal | undefined): Promise<AlertTest> {
    const { send } = await import('./send.js')
    const { testMessage } = await import('./message.js')
    const { clock, now, directory } = this.#context
    const over = new AbortController()
    const cancel = clock.timer(testMs, () => over.abort(new Error(`no answer within ${testMs / 1000} s`)))
    const signal = given === undefined ? over.signal : AbortSignal.any([over.signal, given])
    const beganMs = clock.monotonicMs()
    const done = (isSent: boolean, result: Json): AlertTest => {
      return {
        channel: name,
        kind: channel.kind,
        isSent,
        result,
        tookMs: Math.round(clock.monotonicMs() - beganMs),
      }
    }
    try {
      const context = {
        clock,
        now,
        directory,
        environment: process.env,
        signal,
        attempt: 1,
        log: () => undefined,
      }
      return done(true, await send(testMessage(randomRunId(now()), now()), { name, channel }, context))
    } catch (error) {
      return done(false, error instanceof Error ? error.message : String(error))
    } finally {
      cancel()
    }
  }
}
