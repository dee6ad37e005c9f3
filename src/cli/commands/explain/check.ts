import type { App } from '../../../app/rota.js'
import { printable } from '../../../text/printable.js'
import { pick } from '../../../wire/to-json.js'
import { type Command, exitCodes, jsonOption, storeOption } from '../../framework/command.js'
import { printWrapped } from '../../framework/print/wrap.js'
import { faultLine } from '../../../app/definitions/refusal.js'
import { configArgument, loadChecked } from '../../host/checked-config.js'

/** `rota check`: checks whether `rota up` would start with a config. */
export const check: Command<App> = {
  name: 'check',
  about:
    'Reads a config with its plans, pipelines, modules and calendars as `rota up` would, and prints everything for which a start would be refused. It writes nothing. If the store exists, it also checks that no other source owns the names. Exit code 1 if there is a fault.',
  arguments: [configArgument],
  options: [storeOption, jsonOption],
  examples: {
    'rota check': 'the config of this directory',
    'rota check deploy/rota.config.yaml --json': 'another config, for a program',
  },
  run: async (context) => {
    const { out } = context
    const loaded = await loadChecked(context)
    const faults = 'app' in loaded ? await checked(loaded.app) : loaded.faults
    const views = faults.map((fault) => pick(fault, ['code', 'where', 'path', 'message', 'allowed']))
    out.show({ config: loaded.config, ok: faults.length === 0, faults: views }, () => {
      if (faults.length === 0) return out.line(`${loaded.config}: no faults`)
      for (const fault of faults) printWrapped(out, printable(faultLine(fault)), { indent: 0, hanging: 2 })
      out.line(faults.length === 1 ? '1 fault' : `${faults.length} faults`)
    })
    return faults.length === 0 ? exitCodes.ok : exitCodes.failed
  },
}

async function checked(app: App) {
  try {
    return await app.definitions.check()
  } finally {
    await app.close()
  }
}
