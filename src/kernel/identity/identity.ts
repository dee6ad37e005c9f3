import { hash, randomFillSync } from 'node:crypto'
import type { Instant } from '../../time/instant.js'

/** The sortable id of a run: ten characters for its instant, then 128 bits as 26 characters. */
export type RunId = string

/** How many characters a run id has. */
export const runIdLength = 36

/** The identity of an occurrence: the same on every host and after every restart. */
export interface Identity {
  /** The instant in the prefix of the id: the due instant, or that of the tick for a sensor. */
  readonly at: Instant
  /** What identifies the occurrence, in order: for instance trigger, due instant or key, partition. */
  readonly parts: readonly string[]
}

/** The id of an occurrence, which every process computes in the same way. */
export function runIdOf({ at, parts }: Identity): RunId {
  return encodeInstant(at) + encodeBytes(digestOf(parts))
}

/** The id of the run of a due instant; `grain` is its partition if the instant does not determine it. */
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
 * A unique id: random after its instant. Ids of the same instant have a counter right after the instant, so
 * that they sort in the order of creation, an index of them grows at one end, and a short prefix distinguishes them.
 */
export function randomRunId(at: Instant, random: RandomBytes = pooledRandom): RunId {
  if (at !== drawn.at || drawn.next > lastCount || random !== pooledRandom) draw(at, random)
  const count = drawn.next++
  return `${drawn.head}${pairs[count >>> 10]}${pairs[count & 1023]}${drawn.tail}`
}

/** The common parts of the ids of one instant, and the next count. */
const drawn = { at: -1, head: '', tail: '', next: 0 }

/** The counter has four characters. */
const countLength = 4
const lastCount = 2 ** (5 * countLength) - 1

/** The counter starts at random bits. Its first character has three of them, so it starts in the lower quarter. */
function draw(at: Instant, random: RandomBytes): void {
  const { bytes, offset } = random()
  const digits = encodeBytes(bytes.toString('binary', offset, offset + 16))
  drawn.at = at
  drawn.head = encodeInstant(at)
  drawn.tail = digits.slice(countLength)
  drawn.next = valueOf(digits.slice(0, countLength))
}

/** The instant in a run id's prefix. */
export function instantOfRunId(id: RunId): Instant {
  return valueOf(id.slice(0, 10))
}

/** The lower bound of the ids of runs that are due at an instant or later. */
function firstIdAt(at: Instant): string {
  return encodeInstant(Math.min(Math.max(0, Math.floor(at)), latestInstant))
}

const latestInstant = 2 ** 50 - 1

/** The range of ids of runs that are due in a window: at least `from`, and less than `until`. */
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

/** A number in [0, 1) that depends only on the text: spread and jitter are the same on every host. */
export function fractionOf(text: string): number {
  const digest = digestOf([text])
  let value = 0
  for (let i = 0; i < 4; i++) value = value * 256 + digest.charCodeAt(i)
  return value / 0x1_0000_0000
}

/** A short digest of a text, used to detect a changed definition. */
export function fingerprintOf(text: string): string {
  return hash('sha256', text).slice(0, 32)
}

/** Sixteen random bytes at an offset of a buffer that the caller must not keep. */
export type RandomBytes = () => { readonly bytes: Buffer; readonly offset: number }

// Crockford's base32 in lower case: its characters sort like their values.
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/** All pairs of characters: encoding ten bits at a time takes half the steps. */
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

/** The first 128 bits of a text of bytes as 26 characters: five bits each, the first one three bits. */
function encodeBytes(bytes: string): string {
  let text = ''
  let carry = 0
  let bits = 2
  for (let i = 0; i < 16; i++) {
    carry = (carry << 8) | bytes.charCodeAt(i)
    bits += 8
    if (bits < 10) continue
    bits -= 10
    text += pairs[carry >>> bits]
    carry &= (1 << bits) - 1
  }
  return text
}

/**
 * A text with one character for each byte, which Node.js makes in half the time of a buffer. Each part is preceded by its
 * length, so that no two lists of parts hash the same bytes.
 */
function digestOf(parts: readonly string[]): string {
  let text = ''
  for (const part of parts) text += `${Buffer.byteLength(part)}:${part}`
  return hash('sha256', text, 'binary')
}

// Random bytes are drawn in bulk: one system call for 256 ids. Bytes are used once.
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
