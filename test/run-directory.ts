import { accessSync, chmodSync, constants, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Gives all tests of a run one directory for temporary files, and removes it at the end. */
export default function runDirectory(): () => void {
  const directory = mkdtempSync(join(process.env['TMPDIR'] ?? inMemory() ?? tmpdir(), 'rota-run-'))
  // As root, a database server runs as another user, who must be able to read its files here.
  chmodSync(directory, 0o755)
  process.env['TMPDIR'] = directory
  process.env['XDG_STATE_HOME'] = join(directory, 'state')
  return () => rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
}

/** More than all tests that run at the same time have on disk. */
const roomBytes = 4 * 1024 ** 3

/**
 * A file system in memory, if there is one with enough room: to make and remove the thousand files of a Postgres server
 * takes half a second of CPU time on ext4, and a tenth of that here. No test cuts the power of the real disk.
 */
function inMemory(): string | undefined {
  const path = '/dev/shm'
  try {
    accessSync(path, constants.W_OK)
    const { bavail, bsize } = statfsSync(path)
    // Containers may forbid to run programs from it, as tests of examples do.
    const mount = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .find((line) => line.split(' ')[1] === path)
    return mount?.includes('noexec') === false && bavail * bsize >= roomBytes ? path : undefined
  } catch {
    return undefined
  }
}
