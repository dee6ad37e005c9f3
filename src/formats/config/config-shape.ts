import { z } from 'zod'
import { dstPolicies } from '../../time/cron/dst.js'
import { partitionWords } from '../../kernel/partition/rule.js'

/** A length of time. */
export const durationShape = z
  .union([z.string(), z.number().int().min(0)])
  .describe('Such as 90s, 1h30m or PT15M, or milliseconds.')
const duration = durationShape
const instant = z.string().describe('Such as 2026-01-05T09:00:00Z.')
const count = z.number().int().min(1)
/** Which of two runs goes first. */
export const priorityShape = z.number().int().min(-1_000_000).max(1_000_000).describe('Higher goes first.')
/** A map of texts. */
export const textsShape = z.record(z.string(), z.string())
const json = z.json()
const prefix = z.string().max(256).optional().describe('Put before it, such as `Bearer `.')
const secretText = z.union([
  z.string(),
  z.strictObject({ env: z.string().describe('A variable of the process that performs it.'), prefix }),
  z.strictObject({ file: z.string().min(1).describe('A file that holds the text.'), prefix }),
])
const secretTexts = z.record(z.string(), secretText)
const allowLiteralSecrets = z.boolean().optional().describe('Takes secrets that are written out.')

const retry = z.strictObject({
  attempts: count.max(1000).optional().describe('Tries in all, the first one included.'),
  backoff: z.enum(['constant', 'linear', 'exponential']).optional(),
  delay: duration.optional().describe('The first wait.'),
  maxDelay: duration.optional().describe('No wait is longer.'),
  jitter: z.number().min(0).max(1).optional().describe('The part of each wait that is drawn.'),
})

const argv = z
  .array(z.string())
  .min(1)
  .max(1000)
  .describe('The program and its arguments; there is no shell.')

/** A command, with or without its surroundings. */
export const commandShape = z.union([
  argv,
  z.strictObject({
    argv,
    env: secretTexts.optional(),
    cwd: z.string().min(1).optional(),
    allowLiteralSecrets,
  }),
])

/** A request. */
export const requestShape = z.strictObject({
  url: z.string(),
  method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']).optional(),
  headers: secretTexts.optional(),
  allowLiteralSecrets,
  body: json.optional().describe('Sent as JSON; the payload of the run where it is absent.'),
})

/** A job. */
export const jobShape = z.strictObject({
  command: commandShape.optional(),
  shell: z.string().min(1).optional().describe('A line for /bin/sh -c; the run is in its variables.'),
  http: requestShape.optional(),
  pipeline: z
    .string()
    .min(1)
    .optional()
    .describe('A pipeline file, relative to this one; read when a run starts.'),
  handler: z
    .strictObject({
      module: z.string().min(1).describe('A path, relative to this file.'),
      export: z.string().min(1).optional().describe('The name of the exported function; default: default.'),
    })
    .optional()
    .describe('The function that a module exports.'),
  isolate: z.enum(['thread', 'process']).optional().describe('What each attempt gets for itself.'),
  memoryMb: z.number().int().min(16).max(1_048_576).optional().describe('How much its objects may take.'),
  queue: z.string().optional().describe('The queue its runs wait in.'),
  priority: priorityShape.optional(),
  retry: z
    .union([count.max(1000), retry])
    .optional()
    .describe('How often a failed run is tried again.'),
  timeout: duration.optional().describe('How long one attempt may take.'),
  concurrency: count.optional().describe('How many of its runs may be held at once, over all workers.'),
  concurrencyPerKey: count.optional().describe('How many runs with one group key may be held at once.'),
  maxCrashes: count
    .max(100)
    .optional()
    .describe('How many workers a run may take down before it is quarantined.'),
})

const mode = z.enum(['skip', 'latest', 'all'])

/** When something is due. */
export const scheduleShape = z.strictObject({
  cron: z.string().optional().describe('A cron expression; exactly one of cron, every and at is there.'),
  timezone: z.string().optional().describe('An IANA name; default: UTC.'),
  dst: z.enum(Object.keys(dstPolicies)).optional(),
  every: duration.optional(),
  after: z.literal('finish').optional().describe('Counts the interval from the end of the run before.'),
  anchor: instant.optional(),
  immediate: z.boolean().optional(),
  at: instant.optional(),
  start: instant.optional(),
  end: instant.optional(),
  payload: json.optional(),
  partition: z
    .union([
      z.enum(partitionWords),
      z.strictObject({ label: z.string() }).describe('Always the same one.'),
      z.strictObject({ key: z.string() }).describe('Of an asset with time and keys: the slice of this key.'),
    ])
    .optional()
    .describe('The piece of data that a due instant is about.'),
  catchUp: z
    .union([
      mode,
      z.strictObject({
        mode: mode.optional(),
        maxAge: duration.optional(),
        maxRuns: count.max(10_000).optional(),
        grace: duration.optional(),
      }),
    ])
    .optional(),
  overlap: z
    .enum(['allow', 'skip', 'queue-one', 'queue-all', 'cancel-running', 'terminate-running'])
    .optional(),
  jitter: duration.optional(),
  spread: duration.optional(),
  priority: priorityShape.optional(),
  enabled: z.boolean().optional(),
  labels: textsShape.optional().describe('Names that its runs carry beside their ids.'),
})

const trigger = scheduleShape.extend({
  job: z.string().describe('The name of the job that it triggers.'),
})

/** When a job is due that says it itself; its trigger has its name. */
const dueShape = scheduleShape.omit({ priority: true })

/** The shape of a config file without the sections of features, for editors and other programs; `readConfig` knows the rules that a shape cannot say. */
export const configShape = z.strictObject({
  $schema: z.string().optional().describe('Where an editor finds this schema.'),
  app: z.string().optional().describe('The name under which its definitions are kept.'),
  store: z.string().optional().describe('Such as sqlite:data/rota.db, relative to this file.'),
  concurrency: count.optional().describe('How many runs this worker performs at once.'),
  lease: duration.optional().describe('How long a worker may be silent before its runs are taken over.'),
  retention: duration.optional().describe('How long finished runs are kept.'),
  durability: z.enum(['full', 'normal']).optional(),
  bus: z
    .strictObject({ offerAfter: duration.optional().describe('How long a run may wait for a worker.') })
    .optional(),
  timezone: z.string().optional().describe('The zone of schedules and sensors that name none; default: UTC.'),
  env: secretTexts.optional().describe('Variables that every command gets.'),
  queues: z.record(z.string(), z.strictObject({ concurrency: count.optional() })).optional(),
  jobs: z.record(z.string(), jobShape.extend(dueShape.shape)).optional(),
  triggers: z.record(z.string(), trigger).optional(),
})
