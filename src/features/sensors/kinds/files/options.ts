import { isAbsolute } from 'node:path'
import { refuse } from '../../../../kernel/definition/errors.js'
import { fault, placeOf, shown, within, type Place } from '../../../../kernel/definition/faults.js'
import { frozen } from '../../../../kernel/definition/frozen.js'
import {
  readChoice,
  readDuration,
  readFlag,
  readOptions,
  readWhole,
} from '../../../../kernel/definition/read-value.js'
import { MAX_DURATION_MS } from '../../../../time/duration.js'
import type { Instant } from '../../../../time/instant.js'

/** A found file. */
export interface FoundFile {
  /** Its absolute path. */
  readonly path: string
  readonly size: number
  readonly modifiedAt: Instant
}

/** The options of a file sensor. */
export interface FilesSensorOptions {
  /** The pattern of paths below the directory, such as `incoming/*.csv`. */
  readonly glob: string
  /** The directory that relative paths start at; default: the directory the process was started in. */
  readonly directory?: string | undefined
  /** The partition of a path below the directory; undefined leaves the file out. Default: the first valid date in the path, otherwise the day of its last change. */
  readonly partition?: ((path: string, file: FoundFile) => string | undefined) | undefined
  /** Whether a replaced file is found again, detected by its time and size; default: false. */
  readonly version?: boolean | undefined
  /** How long a file must have been unchanged; default: two seconds. */
  readonly settle?: string | number | undefined
  /** `now` leaves out the files that exist at the first poll; default: `beginning`. */
  readonly startFrom?: 'beginning' | 'now' | undefined
  /** Whether symbolic links are followed; default: false, links are ignored. */
  readonly followSymlinks?: boolean | undefined
  /** Whether changes wake the sensor before its next poll; default: true. */
  readonly watch?: boolean | undefined
  /** How many directory entries one poll reads before it returns what it has; default: 20,000. */
  readonly filesPerPoll?: number | undefined
}

/** The checked options of a file sensor. */
export interface FilesConfig {
  readonly glob: string
  readonly directory: string
  readonly partition: FilesSensorOptions['partition']
  readonly version: boolean
  readonly settleMs: number
  readonly startFrom: 'beginning' | 'now'
  readonly followSymlinks: boolean
  readonly watch: boolean
  readonly filesPerPoll: number
}

/** Reads the options of a file sensor; throws one error with all faults. */
export function readFilesOptions(options: FilesSensorOptions): FilesConfig {
  const place = placeOf()
  const written = readOptions(options, optionNames, place) ?? {}
  const at = (name: string): Place => within(place, name)
  const { partition } = options
  if (partition !== undefined && typeof partition !== 'function')
    fault(at('partition'), `${shown(partition)} is not a function`, 'a function of the path')
  const config = {
    glob: readGlob(written['glob'], at('glob')) ?? '',
    directory: readDirectory(written['directory'], at('directory')) ?? '.',
    partition,
    version: readFlag(written['version'], at('version')) ?? false,
    settleMs: readDuration(written['settle'], anyDuration, at('settle')) ?? 2000,
    startFrom: readChoice(written['startFrom'], ['beginning', 'now'], at('startFrom')) ?? 'beginning',
    followSymlinks: readFlag(written['followSymlinks'], at('followSymlinks')) ?? false,
    watch: readFlag(written['watch'], at('watch')) ?? true,
    filesPerPoll:
      readWhole(written['filesPerPoll'], { min: 1, max: 1_000_000 }, at('filesPerPoll')) ?? 20_000,
  }
  refuse('the file sensor', place.faults)
  return frozen(config)
}

const optionNames: readonly (keyof FilesSensorOptions)[] = [
  'glob',
  'directory',
  'partition',
  'version',
  'settle',
  'startFrom',
  'followSymlinks',
  'watch',
  'filesPerPoll',
]

const anyDuration = { min: 0, max: MAX_DURATION_MS, allowed: 'at most 36525 days' }
const allowedGlob = 'a pattern below the directory, such as incoming/**/*.csv'

function readGlob(value: unknown, place: Place): string | undefined {
  if (typeof value !== 'string' || value === '' || value.length > 1024)
    return fault(place, `${shown(value)} is not a pattern`, allowedGlob)
  const glob = value.replace(/^(?:\.\/)+/, '')
  const leadsOut = isAbsolute(glob) || glob.split('/').includes('..')
  return leadsOut
    ? fault(place, `${shown(value)} is outside the directory; set directory`, allowedGlob)
    : glob
}

function readDirectory(value: unknown, place: Place): string | undefined {
  if (value === undefined || (typeof value === 'string' && value !== '')) return value
  return fault(place, `${shown(value)} is not a directory`, 'a path')
}
