import { createHash } from 'node:crypto'

/** Into how many bins the things that a sensor knows are dealt out, by chance but always alike. */
export const binCount = 64

const bytesPerBin = 6

/** What stands for one thing: the bin it falls into, and 48 bits that are its own. */
export interface Mark {
  readonly bin: number
  readonly bytes: Uint8Array
}

/** The mark of a thing, the same on every host. */
export function markOf(identity: string): Mark {
  const digest = createHash('sha256').update(identity).digest()
  return { bin: (digest[0] ?? 0) % binCount, bytes: digest.subarray(1, 1 + bytesPerBin) }
}

/** A mark in eight characters, for lists of a few. */
export function markText(mark: Mark): string {
  return Buffer.from(mark.bytes).toString('base64url')
}

/**
 * A set of any size in 384 bytes: for each bin the exclusive or of its marks. It cannot say what is in the set, but two
 * of them say in which bins two sets differ.
 */
export class BinDigest {
  readonly #bytes = Buffer.alloc(binCount * bytesPerBin)

  /** Reads what `toText` wrote; the empty text is the empty set. */
  constructor(text = '') {
    this.#bytes.write(text, 'base64url')
  }

  /** Adds what is not in the set, and removes what is. */
  toggle({ bin, bytes }: Mark): void {
    const start = bin * bytesPerBin
    for (let index = 0; index < bytesPerBin; index++) {
      const at = start + index
      this.#bytes[at] = (this.#bytes[at] ?? 0) ^ (bytes[index] ?? 0)
    }
  }

  /** The bins in which two sets differ. */
  differing(other: BinDigest): readonly number[] {
    return Array.from({ length: binCount }, (_, bin) => bin).filter((bin) => {
      const [start, end] = [bin * bytesPerBin, (bin + 1) * bytesPerBin]
      return !this.#bytes.subarray(start, end).equals(other.#bytes.subarray(start, end))
    })
  }

  toText(): string {
    return this.#bytes.every((byte) => byte === 0) ? '' : this.#bytes.toString('base64url')
  }
}
