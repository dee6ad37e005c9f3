import { createHash } from 'node:crypto'

/** The number of bins into which the known items of a sensor are hashed. */
export const binCount = 64

const bytesPerBin = 6

/** The hash of one item: its bin and 48 bits. */
export interface Mark {
  readonly bin: number
  readonly bytes: Uint8Array
}

/** The hash of an item, the same on every host. */
export function markOf(identity: string): Mark {
  const digest = createHash('sha256').update(identity).digest()
  return { bin: (digest[0] ?? 0) % binCount, bytes: digest.subarray(1, 1 + bytesPerBin) }
}

/** A mark in eight characters, for short lists. */
export function markText(mark: Mark): string {
  return Buffer.from(mark.bytes).toString('base64url')
}

/**
 * A digest of a set of any size in 384 bytes: for each bin the exclusive or of its marks. It does not list the set,
 * but two digests show in which bins two sets differ.
 */
export class BinDigest {
  readonly #bytes = Buffer.alloc(binCount * bytesPerBin)

  /** Parses the result of `toText`; the empty text is the empty set. */
  constructor(text = '') {
    this.#bytes.write(text, 'base64url')
  }

  /** Adds an item that is not in the set, and removes one that is. */
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
