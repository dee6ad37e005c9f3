/** Words of the audit. */
export const words = {
  label: 'Changes',
  at: 'at',
  actor: 'who',
  action: 'action',
  target: 'what',
  reason: 'reason',
  change: 'before and after',
  show: 'show',
  before: 'before',
  after: 'after',
  via: { cli: 'by command', api: 'by API', code: 'by code', sync: 'by its definitions', rule: 'by a rule' },
} as const
