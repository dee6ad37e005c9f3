import { createHash } from 'node:crypto'
import { boundText } from '../../../kernel/definition/bounds.js'
import { maxKeyBytes } from '../polling/read-poll.js'

/** The key of an observation: its identity, or a prefix and a digest if that is too long. */
export function observationKey(identity: string): string {
  if (identity.length * 3 <= maxKeyBytes || Buffer.byteLength(identity) <= maxKeyBytes) return identity
  const digest = createHash('sha256').update(identity).digest('base64url')
  return `${boundText(identity, maxKeyBytes - digest.length - 1)}#${digest}`
}
