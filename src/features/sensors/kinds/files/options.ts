import { isAbsolute } from 'node:path'
import { refuse } from '../../../../kernel/definition/errors.js'
import { fault, placeOf, shown, type Place } from '../../../../kernel/definition/faults.js'
import { frozen } from '../../../../kernel/definition/frozen.js'
import {
  anyDuration,
  choice,
  duration,
  flag,
  functionOf,
  readTable,
  required,
  whole,
} from '../../../../kernel/definition/option-table.js'

/** A found file. */
export interface FoundFile {
  /** Its absolute path. */
  readonly path: string
  readonly size: number
  readonly modifiedAt: Date
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

const table = {
  glob: required(readGlob),
  directory: required(readDirectory),
  partition: functionOf<FilesSensorOptions['partition']>('the path'),
  version: flag(false),
  settle: duration(anyDuration, 2000),
  startFrom: choice('beginning', 'now'),
  followSymlinks: flag(false),
  watch: flag(true),
  filesPerPoll: whole({ min: 1, max: 1_000_000 }, 20_000),
}

/** The checked options of a file sensor. */
export type FilesConfig = ReturnType<typeof readFilesOptions>

/** Reads the options of a file sensor; throws one error with all faults. */
export function readFilesOptions(options: FilesSensorOptions) {
  const place = placeOf()
  const { settle: settleMs, ...read } = readTable(options, table, place)
  refuse('the file sensor', place.faults)
  return frozen({ ...read, settleMs })
}

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
  if (value === undefined) return '.'
  return typeof value === 'string' && value !== ''
    ? value
    : fault(place, `${shown(value)} is not a directory`, 'a path')
}
