import { canonicalJson } from '../../kernel/identity/canonical-json.js'
import type { Json } from '../../kernel/definition/json.js'
import type { StepResults } from '../../kernel/job/pipeline.js'

/** The results within a size limit in bytes of JSON: the largest ones are replaced by their sizes. */
export function fittingResults(results: StepResults, maxBytes: number): StepResults {
  const kept = new Map(Object.entries(results))
  let bytes = bytesOf(Object.fromEntries(kept))
  const bySize = [...kept].toSorted(([, a], [, b]) => bytesOf(b) - bytesOf(a))
  for (const [id, result] of bySize) {
    if (bytes <= maxBytes) break
    const note = { rota: 'the result was cut', bytes: bytesOf(result) }
    kept.set(id, note)
    bytes += bytesOf(note) - bytesOf(result)
  }
  return Object.fromEntries(kept)
}

function bytesOf(value: Json): number {
  return Buffer.byteLength(canonicalJson(value))
}
