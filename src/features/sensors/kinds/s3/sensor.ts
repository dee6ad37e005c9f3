import type { ConfiguredSensor, Observation, PollContext, PollResult, Sensor } from '../../sensor.js'
import { dated } from '../../../../time/dated.js'
import { formatInstant } from '../../../../time/instant.js'
import { S3Listing, type S3Object, type S3Pages } from './listing.js'
import { readS3Options, type S3Config, type S3SensorOptions } from './options.js'
import { s3Problem } from './problem.js'
import { complaintOf } from '../page-result.js'
import {
  enoughFound,
  initSweeps,
  observationOf,
  sift,
  stateFor,
  sweepResult,
  type Candidate,
} from '../sweep/sift.js'
import { positionOf, Sweep, type SweepState } from '../sweep/sweep.js'

/** A sensor that finds every new object of a bucket once; `sweep/sweep.ts` says how it remembers the keys. */
export function s3Sensor(options: S3SensorOptions): ConfiguredSensor<S3Config, SweepState> {
  const config = readS3Options(options)
  return { type: 's3', sensor: sensorOver(new S3Listing(config)), config }
}

/** A sensor over a listing, which `cleanup` closes. */
export function sensorOver(listing: S3Pages): Sensor<S3Config, SweepState> {
  return {
    init: initSweeps,
    poll: (state, context) => poll(state, context, listing),
    cleanup: () => listing.close(),
  }
}

async function poll(
  given: SweepState,
  context: PollContext<S3Config>,
  listing: S3Pages,
): Promise<PollResult<SweepState>> {
  const complaint = complaintOf(given)
  if (complaint !== undefined) return complaint
  const { config, signal } = context
  const { endpoint = '', bucket, prefix, version, startFrom, lookBackMs } = config
  const state = stateFor([endpoint, bucket, prefix, version, startFrom, lookBackMs === undefined], given)
  const toCandidate = (object: S3Object): Candidate => candidateOf(object, context)
  const found: Observation[] = []
  let sweep: Sweep | undefined
  let problem: string | undefined
  let isEnded = false
  for (let listed = 0; listed < config.keysPerPoll && found.length < enoughFound && !isEnded; ) {
    try {
      const after = sweep?.position ?? positionOf(state)
      const page = await listing.page({ after, pageSize: config.pageSize, signal })
      const at = page.at ?? context.now.getTime()
      sweep ??= new Sweep(state, config, at)
      problem = sift(page.objects.map(toCandidate), { sweep, at, found })
      listed += page.objects.length
      isEnded = page.isLast && problem === undefined
    } catch (error) {
      problem = s3Problem(error, config)
    }
    if (problem !== undefined || signal.aborted) break
  }
  if (sweep !== undefined) return sweepResult({ sweep, isEnded, found, problem })
  return { kind: 'error', reason: problem ?? 'the poll was aborted before it began', state }
}

function candidateOf(object: S3Object, { config, timezone }: PollContext<S3Config>): Candidate {
  const { key, size, etag, lastModifiedAt } = object
  const identity = config.version ? `${key}#${etag}` : key
  const observe = (): Observation | undefined => {
    // Consoles create such objects to show an empty directory.
    if (key.endsWith('/') && size === 0) return undefined
    const choose = config.partition?.bind(undefined, key, dated(object))
    const payload = { bucket: config.bucket, key, size, etag, lastModified: formatInstant(lastModifiedAt) }
    return observationOf({ name: key, identity, changedAt: lastModifiedAt, timezone, choose, payload })
  }
  return { identity, changedAt: lastModifiedAt, position: key, observe }
}
