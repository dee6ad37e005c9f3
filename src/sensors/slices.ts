import { createHash } from 'node:crypto'

/** Into how many slices the things that a sensor knows are dealt out, by chance but always alike. */
export const sliceCount = 64

const bytesPerSlice = 6

/** What stands for one thing: the slice it falls into, and 48 bits that are its own. */
export interface Mark {
  readonly slice: number
  readonly bytes: Uint8Array
}

/** The mark of a thing, the same on every host. */
export function markOf(identity: string): Mark {
  const digest = createHash('sha256').update(identity).digest()
  return { slice: (digest[0] ?? 0) % sliceCount, bytes: digest.subarray(1, 1 + bytesPerSlice) }
}

/** A mark in eight characters, for lists of a few. */
export function markText(mark: Mark): string {
  return Buffer.from(mark.bytes).toString('base64url')
}

/**
 * A set of any size in 384 bytes: for each slice the exclusive or of its marks. It cannot say what is in the set, but two
 * of them say in which slices two sets differ.
 */
export class SliceDigest {
  readonly #bytes = Buffer.alloc(sliceCount * bytesPerSlice)

  /** Reads what `toText` wrote; the empty text is the empty set. */
  constructor(text = '') {
    this.#bytes.write(text, 'base64url')
  }

  /** Adds what is not in the set, and removes what is. */
  toggle({ slice, bytes }: Mark): void {
    const start = slice * bytesPerSlice
    for (let index = 0; index < bytesPerSlice; index++) {
      const at = start + index
      this.#bytes[at] = (this.#bytes[at] ?? 0) ^ (bytes[index] ?? 0)
    }
  }

  /** The slices in which two sets differ. */
  differing(other: SliceDigest): readonly number[] {
    return Array.from({ length: sliceCount }, (_, slice) => slice).filter((slice) => {
      const [start, end] = [slice * bytesPerSlice, (slice + 1) * bytesPerSlice]
      return !this.#bytes.subarray(start, end).equals(other.#bytes.subarray(start, end))
    })
  }

  toText(): string {
    return this.#bytes.every((byte) => byte === 0) ? '' : this.#bytes.toString('base64url')
  }
}
