import type { Coverage } from '../kernel/ledger/coverage.js'
import { why, type Why } from '../engine/explain/why.js'
import type { PendingReason } from '../kernel/run/pending.js'
import { codeAppName, mainProgram } from './process/program.js'
import { coverageReport } from './explain/coverage-report.js'
import { examine, type Finding } from './doctor/doctor.js'
import type { RotaOptions } from './rota-options.js'
import { RotaAssets } from '../features/assets/api.js'
import { findRun } from './runs/runs.js'
import { whyPending } from './runs/waiting.js'
import { loadTriggerKinds } from './features.js'

/** A durable scheduler: makes an app that is not started yet. */
export function rota(options: RotaOptions = {}): Rota {
  const app = options.app ?? codeAppName(options.directory)
  return new Rota(options, `code:${app}`, { program: mainProgram() })
}

/**
 * An app: what it defines, and everything that can be asked of its store. The store is opened when it is first needed.
 * Each layer below it, in `rota/`, adds one capability; this one explains what happened.
 */
export class Rota extends RotaAssets {
  /** What became of a trigger's due instants in a stretch of time. */
  async why(trigger: string, window: { readonly from: Date; readonly until?: Date }): Promise<Why> {
    const fromAt = window.from.getTime()
    const untilAt = (window.until ?? window.from).getTime()
    const kinds = await loadTriggerKinds()
    return await why(await this.store(), { kinds, trigger, fromAt, untilAt, now: this.now() })
  }

  /** Why a run is not being performed yet: the first reason is the one to look at first. None for a run that is not pending. */
  async whyPending(id: string): Promise<readonly PendingReason[]> {
    const store = await this.store()
    return await whyPending(store, { run: await findRun(store, id), now: this.now() })
  }

  /** Computes the due instants anew and compares them with the ledger: of one trigger, or of all. */
  async coverage(
    options: { readonly trigger?: string; readonly since?: Date } = {},
  ): Promise<readonly Coverage[]> {
    return await coverageReport(await this.store(), options)
  }

  /** Looks for what is wrong, and says what to do about it. */
  async doctor(options: { readonly deep?: boolean } = {}): Promise<readonly Finding[]> {
    const store = await this.store()
    const { clock, wentBack } = this
    return await examine({ store, clock, wentBack, deep: options.deep ?? false })
  }
}
