import { hash, randomFillSync } from 'node:crypto'
import type { Instant } from '../../time/instant.js'

/** The sortable name of a run: ten characters of its instant, then 128 bits as 26 characters. */
export type RunId = string

/** How many characters a run id has. */
export const runIdLength = 36

/** What an occurrence is, apart from when it was found: the same on every host and after every restart. */
export interface Identity {
  /** The instant in the id's prefix: the due instant, or the tick's for a sensed one. */
  readonly at: Instant
  /** What makes it this occurrence, in order: for instance trigger, due instant or key, partition. */
  readonly parts: readonly string[]
}

/** The id that every process computes alike for one occurrence. */
export function runIdOf({ at, parts }: Identity): RunId {
  return encodeInstant(at) + encodeDigest(digestOf(parts), 0)
}

/** The id of the run that a due instant of a trigger becomes; `grain` is its piece of data, where the instant does not say it. */
export function dueRunId({
  trigger,
  dueAt,
  grain = '',
}: {
  readonly trigger: string
  readonly dueAt: Instant
  readonly grain?: string
}): RunId {
  return runIdOf({ at: dueAt, parts: ['due', trigger, String(dueAt), grain] })
}

/**
 * An id nobody else will draw: random behind its instant. Those of one moment are counted right behind the instant, so
 * that they sort as they were drawn, an index of them grows at one end, and a short beginning tells them apart.
 */
export function randomRunId(at: Instant, random: RandomBytes = pooledRandom): RunId {
  if (at !== drawn.at || drawn.next > lastCount || random !== pooledRandom) draw(at, random)
  const count = drawn.next++
  return `${drawn.head}${pairs[count >>> 10]}${pairs[count & 1023]}${drawn.tail}`
}

/** What the ids of one moment have in common, and the number of the next. */
const drawn = { at: -1, head: '', tail: '', next: 0 }

/** Four characters count. */
const countLength = 4
const lastCount = 2 ** (5 * countLength) - 1

/** The count starts at random bits as well. The first character holds three of them, so it starts in the lower quarter. */
function draw(at: Instant, random: RandomBytes): void {
  const { bytes, offset } = random()
  const digits = encodeDigest(bytes, offset)
  drawn.at = at
  drawn.head = encodeInstant(at)
  drawn.tail = digits.slice(countLength)
  drawn.next = valueOf(digits.slice(0, countLength))
}

/** The instant in a run id's prefix. */
export function instantOfRunId(id: RunId): Instant {
  return valueOf(id.slice(0, 10))
}

/** What the ids of runs that are due at an instant or later are not less than. */
function firstIdAt(at: Instant): string {
  return encodeInstant(Math.min(Math.max(0, Math.floor(at)), latestInstant))
}

const latestInstant = 2 ** 50 - 1

/** The beginnings of ids between which the runs of a stretch of time lie: not less than `from`, and less than `until`. */
export function idBounds({
  sinceAt,
  untilAt,
}: {
  readonly sinceAt?: Instant | undefined
  readonly untilAt?: Instant | undefined
}): { readonly from: string | undefined; readonly until: string | undefined } {
  return {
    from: sinceAt === undefined ? undefined : firstIdAt(Math.ceil(sinceAt)),
    until: untilAt === undefined || untilAt >= latestInstant ? undefined : firstIdAt(Math.floor(untilAt) + 1),
  }
}

function valueOf(text: string): number {
  let value = 0
  for (const character of text) value = value * 32 + alphabet.indexOf(character)
  return value
}

/** A number in [0, 1) that depends on the text alone: for spread and jitter that every host agrees on. */
export function fractionOf(text: string): number {
  return digestOf([text]).readUInt32BE(0) / 0x1_0000_0000
}

/** A short digest of a text, for noticing that a definition changed. */
export function fingerprintOf(text: string): string {
  return hash('sha256', text).slice(0, 32)
}

/** Sixteen random bytes at an offset of a buffer that the caller must not keep. */
export type RandomBytes = () => { readonly bytes: Buffer; readonly offset: number }

// Crockford's base32 in lower case: its characters sort as their values do.
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/** Every two characters: ten bits at a time make an id in half the steps. */
const pairs: readonly string[] = Array.from(
  { length: 1024 },
  (_, i) => `${alphabet[i >>> 5]}${alphabet[i & 31]}`,
)

function encodeInstant(at: Instant): string {
  let text = ''
  let rest = at
  for (let i = 0; i < 5; i++) {
    text = pairs[rest % 1024] + text
    rest = Math.floor(rest / 1024)
  }
  return text
}

/** 128 bits as 26 characters: five bits each, the first one three bits. */
function encodeDigest(bytes: Buffer, offset: number): string {
  let text = ''
  let carry = 0
  let bits = 2
  for (let i = 0; i < 16; i++) {
    carry = (carry << 8) | (bytes[offset + i] as number)
    bits += 8
    if (bits < 10) continue
    bits -= 10
    text += pairs[carry >>> bits]
    carry &= (1 << bits) - 1
  }
  return text
}

/** Each part is preceded by its length, so that no two lists of parts hash the same bytes. */
function digestOf(parts: readonly string[]): Buffer {
  let text = ''
  for (const part of parts) text += `${Buffer.byteLength(part)}:${part}`
  return hash('sha256', text, 'buffer')
}

// Randomness drawn in bulk: one call of the kernel for 256 ids. Bytes are used once and then refilled.
const pool = Buffer.alloc(4096)
let used = pool.length

function pooledRandom(): { bytes: Buffer; offset: number } {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const offset = used
  used += 16
  return { bytes: pool, offset }
}
