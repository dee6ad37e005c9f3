import { TimeError } from './time-error.js'

const ALLOWED = 'an IANA name such as Europe/Berlin, or UTC'

/** Words of zone names that are not simply capitalised. */
const SPELLINGS: Readonly<Record<string, string>> = {
  act: 'ACT',
  nsw: 'NSW',
  lhi: 'LHI',
  gb: 'GB',
  nz: 'NZ',
  chat: 'CHAT',
  w: 'W',
  su: 'SU',
  us: 'US',
  utc: 'UTC',
  uct: 'UCT',
  gmt: 'GMT',
  in: 'IN',
  of: 'of',
  es: 'es',
  au: 'au',
  bajanorte: 'BajaNorte',
  bajasur: 'BajaSur',
  comodrivadavia: 'ComodRivadavia',
  denoronha: 'DeNoronha',
  dumontdurville: 'DumontDUrville',
  easterisland: 'EasterIsland',
  mcmurdo: 'McMurdo',
}

/** The zones that people mean by abbreviations; an abbreviation alone is ambiguous or lacks daylight saving. */
const MEANT_BY: Readonly<Record<string, string>> = {
  BST: 'Europe/London',
  CET: 'Europe/Berlin',
  CST: 'America/Chicago',
  EET: 'Europe/Athens',
  EST: 'America/New_York',
  HST: 'Pacific/Honolulu',
  IST: 'Asia/Kolkata',
  JST: 'Asia/Tokyo',
  MET: 'Europe/Berlin',
  MSK: 'Europe/Moscow',
  MST: 'America/Denver',
  PRC: 'Asia/Shanghai',
  PST: 'America/Los_Angeles',
  ROC: 'Asia/Taipei',
  ROK: 'Asia/Seoul',
  UCT: 'UTC',
  WET: 'Europe/Lisbon',
}

/** The usual spelling of a zone name written in any case; the zone need not exist. */
export function spellZoneName(name: string): string {
  const lower = name.toLowerCase()
  // Names such as EST5EDT are all capitals.
  if (/^[a-z]{3}\d[a-z]{3}$/.test(lower)) return lower.toUpperCase()
  return lower.replace(/[a-z]+/g, (word) => SPELLINGS[word] ?? word.charAt(0).toUpperCase() + word.slice(1))
}

/** Throws for names that Intl accepts but that are not IANA names of a place or of UTC, with a suggestion. */
export function assertZoneName(name: string): void {
  if (typeof name !== 'string') throw unknownZone(String(name), 'a text was expected')
  if (/^[a-z]{3}$/i.test(name) && !/^(utc|gmt)$/i.test(name)) {
    const meant = MEANT_BY[name.toUpperCase()]
    const hint = meant === undefined ? '' : `; did you mean ${meant}?`
    throw unknownZone(name, `abbreviations are not accepted${hint}`)
  }
  if (/^[+-]/.test(name)) throw unknownZone(name, 'an offset is not a zone')
  if (!/^[a-z][\w+/-]*$/i.test(name) || /^systemv\//i.test(name)) throw unknownZone(name, hintFor(name))
}

/** The error for a name that Intl does not know. */
export function unknownZone(name: string, problem = hintFor(name)): TimeError {
  const message = `"${name.slice(0, 60)}" is not a time zone: ${problem}`
  return new TimeError('ZONE_UNKNOWN', message, { allowed: ALLOWED })
}

function hintFor(name: string): string {
  const city = name.toLowerCase().trim().replaceAll(' ', '_').split('/').at(-1) ?? ''
  const meant = Intl.supportedValuesOf('timeZone').find((zone) => zone.toLowerCase().endsWith(`/${city}`))
  return meant === undefined ? 'no such IANA name' : `did you mean ${meant}?`
}
