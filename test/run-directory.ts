import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Gives all tests of a run one directory for what they leave behind, and removes it at the end. */
export default function runDirectory(): () => void {
  const directory = mkdtempSync(join(tmpdir(), 'rota-run-'))
  // As root a database server runs under a user of its own, who has to reach its files in here.
  chmodSync(directory, 0o755)
  process.env['TMPDIR'] = directory
  process.env['XDG_STATE_HOME'] = join(directory, 'state')
  return () => rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
}
