import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Gives all tests of a run one directory for temporary files, and removes it at the end. */
export default function runDirectory(): () => void {
  const directory = mkdtempSync(join(tmpdir(), 'rota-run-'))
  // As root, a database server runs as another user, who must be able to read its files here.
  chmodSync(directory, 0o755)
  process.env['TMPDIR'] = directory
  process.env['XDG_STATE_HOME'] = join(directory, 'state')
  return () => rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
}
