import type { Backfill } from '../../kernel/backfill/backfill.js'
import { systemClock } from '../../time/clock.js'
import { backfillView } from '../../wire/backfills.js'
import { exitCodes, type Ended } from './command.js'
import type { Output } from './print/output.js'
import { untilSignal } from './until-signal.js'

/** The backfills to watch. */
export interface WatchedBackfills {
  get(
    id: string,
  ): Promise<Backfill & { readonly done: number; readonly failed: number; readonly left: number }>
}

const lookAgainMs = 1000

/** Shows the progress of a backfill until it has ended. */
export async function watchBackfill(out: Output, backfills: WatchedBackfills, id: string): Ended {
  return await untilSignal(async (signal) => {
    for (;;) {
      const status = await backfills.get(id)
      const { state, done, total, failed, left } = status
      const text = `backfill ${id}: ${done} of ${total} done, ${failed} failed`
      out.progress(text)
      if (left > 0 && state !== 'cancelled' && !signal.aborted) {
        await systemClock.sleep(lookAgainMs, signal)
        continue
      }
      out.show(backfillView(status), `${text}, ${left} left`)
      return failed === 0 && left === 0 ? exitCodes.ok : exitCodes.failed
    }
  })
}
