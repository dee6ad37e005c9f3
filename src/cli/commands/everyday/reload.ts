import type { ReloadedProcess } from '../../../app/reload/ask-to-reload.js'
import { reloadText } from '../../../app/reload/reload-text.js'
import type { App } from '../../../app/rota.js'
import type { DefinitionFault } from '../../../app/definitions/check-definitions.js'
import { faultLine } from '../../../app/definitions/refusal.js'
import { RotaError } from '../../../kernel/definition/errors.js'
import { printable } from '../../../text/printable.js'
import { pick } from '../../../wire/to-json.js'
import {
  type Command,
  type Context,
  dryRunOption,
  exitCodes,
  jsonOption,
  reasonOption,
  storeOption,
  zoneOption,
} from '../../framework/command.js'
import type { Output } from '../../framework/print/output.js'
import { printWrapped } from '../../framework/print/wrap.js'
import { durationOf } from '../../framework/times-of.js'
import { configArgument, loadChecked } from '../../host/checked-config.js'
import { printDiff } from '../../views/print-diff.js'

/** `rota reload`: makes a running engine apply a changed config. */
export const reload: Command<App> = {
  name: 'reload',
  about:
    'Makes every `rota up` of a config read it again and apply the changes, as a restart would, without stopping anything: runs continue, new definitions begin, removed ones end. If the config has a fault, nothing changes. The output names changed keys that need a restart. The command reaches the processes on every host through the store. Exit code 1: refused, or no answer.',
  arguments: [configArgument],
  options: [
    { name: 'wait', value: 'duration', help: 'how long to wait for the answers; default: 30s' },
    reasonOption,
    dryRunOption,
    storeOption,
    zoneOption,
    jsonOption,
  ],
  examples: {
    'rota reload': 'the config of this directory',
    'rota reload --dry-run': 'what would change, as `rota diff` shows it',
    'rota reload deploy/rota.config.yaml --reason "new hours"': 'another config, and why',
  },
  run: async (context) => {
    const waitMs = durationOf(context, 'wait', '30s')
    const loaded = await loadChecked(context)
    if (!('app' in loaded)) return refused(context, loaded.faults)
    const { app, config } = loaded
    try {
      if (!app.definitions.source.startsWith('config:')) throw byCode(config)
      return context.args.flag('dry-run')
        ? await showDiff(context, { app, config })
        : await reloadNow(context, { app, waitMs })
    } finally {
      await app.close()
    }
  },
}

async function showDiff(
  context: Context<App>,
  { app, config }: { app: App; config: string },
): Promise<number> {
  const faults = await app.definitions.check()
  if (faults.length > 0) return refused(context, faults)
  const found = await app.definitions.diff()
  context.out.show({ config, ...found }, () => printDiff(context.out, found))
  return exitCodes.ok
}

async function reloadNow(
  context: Context<App>,
  { app, waitMs }: { app: App; waitMs: number },
): Promise<number> {
  const { out } = context
  const name = app.definitions.source.slice('config:'.length)
  const processes = await app.workers.reload({ app: name, wait: waitMs })
  if (processes.length === 0) throw nobody(name)
  out.show(processes.map(processView), () => {
    for (const process of processes) printProcess(out, process)
  })
  const isTaken = processes.every(({ answer }) => answer?.outcome === 'reloaded')
  return isTaken ? exitCodes.ok : exitCodes.failed
}

function processView({ answer, ...process }: ReloadedProcess) {
  return { ...pick(process, ['host', 'pid', 'app']), outcome: 'silent', ...answer }
}

function printProcess(out: Output, { host, pid, answer }: ReloadedProcess): void {
  const place = `${host}:${pid}`
  if (answer === undefined) return out.say(`${place} did not answer; it may reload later`)
  if (answer.outcome !== 'refused') return out.say(`${place} reloaded: ${reloadText(answer)}`)
  printRefusal(out, `${place} refused, nothing was changed`, answer)
}

/** Prints faults that are found before any process gets the request. */
function refused({ out }: Context<App>, faults: readonly DefinitionFault[]): number {
  const [{ code, message } = { code: 'CONFIG_INVALID', message: '' }] = faults
  out.show({ outcome: 'refused', code, faults }, () =>
    printRefusal(out, 'refused, nothing was changed', { code, message, faults }),
  )
  return exitCodes.failed
}

function printRefusal(
  out: Output,
  title: string,
  { code, message, faults }: { code: string; message: string; faults: readonly DefinitionFault[] },
): void {
  if (faults.length === 0) return out.say(`${title}: ${message} [${code}]`)
  out.say(`${title}: ${faults.length === 1 ? '1 fault' : `${faults.length} faults`} [${code}]`)
  for (const fault of faults) printWrapped(out, printable(faultLine(fault)), { indent: 2, hanging: 2 })
}

function nobody(app: string): RotaError {
  return new RotaError(
    'WORKER_UNKNOWN',
    `no \`rota up\` of app ${app} runs on this store, so nothing was reloaded`,
  )
}

function byCode(config: string): RotaError {
  return new RotaError(
    'CONFIG_INVALID',
    `${config} creates its app by code, which only a restart can change; a config that exports its definitions can be reloaded`,
  )
}
