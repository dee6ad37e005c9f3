import type { AppContext } from '../../features/app-context.js'
import { splitChange, type ChangeOptions } from '../../kernel/audit/change-options.js'
import { workerIdentity } from '../../handlers/worker-identity.js'
import { parseDuration } from '../../time/duration.js'
import { placeOf, reloadingProcesses, type LiveProcess } from '../process/live-processes.js'
import { answersTo, requestReload, type ReloadAnswer } from './requests.js'

/** Which processes should read their configs again. */
export interface ReloadOptions extends ChangeOptions {
  /** The name of an app; default: all apps. */
  readonly app?: string | undefined
  /** A host, or `host:pid`; default: all. */
  readonly target?: string | undefined
  /** Only this process. */
  readonly isHere?: boolean | undefined
  /** How long to wait for answers; default: `30s`. */
  readonly wait?: string | number | undefined
}

/** The result of a request to one process. */
export interface ReloadedProcess {
  readonly host: string
  readonly pid: number
  /** The app whose config it read. */
  readonly app: string
  /** Undefined if it did not answer in time. */
  readonly answer: ReloadAnswer | undefined
}

/** Asks processes to read their configs again, and waits for their answers; returns an empty list if none matches. */
export async function askToReload(
  context: AppContext,
  options: ReloadOptions,
): Promise<readonly ReloadedProcess[]> {
  const { change, rest } = splitChange(options)
  const waitMs = parseDuration(rest.wait ?? '30s')
  const { clock, now } = context
  const store = await context.store()
  const meant = await meantProcesses(context, rest)
  const request = { processes: meant.map(({ name }) => name), dryRun: change.dryRun === true }
  const target = (rest.isHere === true ? meant.map(placeOf)[0] : undefined) ?? rest.target ?? rest.app ?? '*'
  const asked = {
    operation: 'ask for a reload',
    target,
    outcome: () => 'asked',
    options: change,
    audit: { action: 'reload', target: `reload:${target}`, subjects: [], after: meant.map(placeOf) },
  }
  const requests = request.dryRun
    ? await requestReload(store, { ...request, now: now() })
    : await context.change(asked, (audited, at) => requestReload(audited, { ...request, now: at }))
  context.wake()
  const over = new AbortController()
  const cancel = clock.timer(waitMs, () => over.abort())
  const answers = await answersTo(store, requests, { clock, now, signal: over.signal })
  cancel()
  return meant.map(({ name, host, pid, source }) => ({
    host,
    pid,
    app: appOf(source),
    answer: answers.get(name),
  }))
}

async function meantProcesses(
  { store, now }: AppContext,
  { app, target: named, isHere }: Pick<ReloadOptions, 'app' | 'target' | 'isHere'>,
): Promise<readonly (LiveProcess & { readonly name: string })[]> {
  const target = isHere === true ? placeOf(workerIdentity()) : named
  const source = app === undefined ? undefined : `config:${app}`
  const all = await reloadingProcesses(await store(), { source, now: now() })
  return all.filter((one) => target === undefined || [one.host, placeOf(one)].includes(target))
}

function appOf(source: string): string {
  return source.slice(source.indexOf(':') + 1)
}
