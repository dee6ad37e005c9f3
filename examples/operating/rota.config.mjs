// An app that several processes share: one plans and works (`rota up`), others only work (`rota up --role worker`).
// All options of the whole, with their usual values; see docs/guides/operating.md.
export default {
  app: 'operating',
  store: 'sqlite:data/operating.db',
  // Runs that one process performs at once.
  concurrency: 10,
  // How long a worker may be silent before its runs are taken over.
  lease: '30s',
  // How long finished runs are kept; what they were is then kept as counts.
  retention: '30d',
  // `normal` is faster, and may lose the last commits when the power fails.
  durability: 'full',
  queues: { mail: { concurrency: 5 } },
  jobs: {
    digest: {
      handler: async (run) => run.log(`digest number ${run.attempt} of ${run.id}`),
      queue: 'mail',
      retry: { attempts: 4, delay: '10s' },
      timeout: '1m',
    },
  },
  triggers: { digest: { job: 'digest', cron: '0 7 * * *', timezone: 'Europe/London' } },
}
