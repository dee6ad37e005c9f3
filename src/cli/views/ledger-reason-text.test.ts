import { expect, it } from 'vitest'
import type { LedgerRange } from '../../kernel/ledger/ledger.js'
import { reasonText } from './ledger-reason-text.js'

type Told = Pick<LedgerRange, 'reason' | 'rule' | 'detail'>

const blocker = '01kf2b7c9d4e5f6g'

it.each<[Told, string]>([
  [
    { reason: 'missed', rule: 'catch-up:skip' },
    'missed, nothing was running then; `catchUp: skip` runs no late instants',
  ],
  [
    { reason: 'missed', rule: 'catch-up:max-age' },
    'missed, nothing was running then; `catchUp.maxAge` runs no older instants',
  ],
  [
    { reason: 'missed', rule: 'catch-up:max-runs' },
    'missed, nothing was running then; `catchUp.maxRuns` runs only the newest late instants',
  ],
  [
    { reason: 'missed', rule: 'catch-up:skip', detail: 'the round was stopped' },
    'missed (the round was stopped)',
  ],
  [{ reason: 'missed', rule: 'partition:none' }, 'the asset has no partition for it'],
  [
    { reason: 'collapsed', rule: 'catch-up:latest' },
    'run RUN replaces it; `catchUp: latest` runs only the newest late instant',
  ],
  [
    { reason: 'collapsed', rule: 'overlap:cancel-running' },
    'run RUN replaces it; `overlap: cancel-running` runs only the newest of several due instants',
  ],
  [
    { reason: 'collapsed', rule: 'overlap:skip' },
    'run RUN replaces it; `overlap: skip` runs only the newest of several due instants',
  ],
  [
    { reason: 'overlap', rule: 'overlap:skip' },
    'skipped, run RUN was unfinished; `overlap: skip` starts no other run meanwhile',
  ],
  [
    { reason: 'overlap', rule: 'overlap:queue-one' },
    'skipped, run RUN was unfinished; `overlap: queue-one` lets only one run wait',
  ],
  [
    { reason: 'overlap', rule: 'round:overlap' },
    'skipped, run RUN was unfinished; the previous check was not finished',
  ],
  [{ reason: 'paused', rule: 'hold', detail: 'ann: a new disk' }, 'the trigger was paused (ann: a new disk)'],
  [{ reason: 'frozen', rule: 'hold', detail: 'ann' }, 'everything was frozen (ann)'],
  [{ reason: 'switch', rule: 'hold', detail: 'ann' }, 'a kill switch was off (ann)'],
  [{ reason: 'blackout', rule: 'blackout', detail: 'backup' }, 'in a blackout (backup)'],
  [{ reason: 'blackout', rule: 'blackout', detail: '' }, 'in a blackout'],
  [
    { reason: 'calendar', rule: 'calendar:exclude', detail: 'holidays' },
    'excluded by its calendar (holidays)',
  ],
  [{ reason: 'calendar', rule: 'calendar:include', detail: 'office' }, 'outside its calendar (office)'],
  [
    { reason: 'calendar', rule: 'calendar:next-day', detail: 'weekend' },
    'excluded by its calendar (weekend); moved to the same time on the next day that it allows',
  ],
  [
    { reason: 'pruned', rule: 'prune', detail: '3 done' },
    'ran, and its run was later removed by retention (3 done)',
  ],
  [
    { reason: 'collapsed', rule: 'round:check', detail: '2026-01-05T10:00:00Z' },
    'the check of 2026-01-05T10:00:00Z replaces it',
  ],
  [{ reason: 'checked', rule: 'round:check', detail: 'due: crawl' }, 'the round was checked (due: crawl)'],
  [
    { reason: 'checked', rule: 'round:later', detail: 'skipped: crawl' },
    'skipped after the check (skipped: crawl)',
  ],
])('%j is a sentence', (told, sentence) => {
  expect(reasonText({ ...told, blocker }, () => 'RUN')).toBe(sentence)
})
