// An app that several processes share: one plans and works (`rota up`), others only work (`rota up --role worker`).
// All options of an app, with their defaults; see docs/guides/operating.md.
export default {
  app: 'operating',
  store: 'sqlite:data/operating.db',
  // Runs that one process performs at the same time.
  concurrency: 10,
  // After this time without a heartbeat, other workers take over the runs of a worker.
  lease: '30s',
  // How long finished runs are kept; after that, only their counts are kept.
  retention: '30d',
  // `normal` is faster, and may lose the last commits in a power loss.
  durability: 'full',
  queues: { mail: { concurrency: 5 } },
  jobs: {
    digest: {
      handler: async (run) => run.log(`digest number ${run.attempt} of ${run.id}`),
      queue: 'mail',
      retry: { attempts: 4, delay: '10s' },
      timeout: '1m',
      // Failed runs are kept for longer than the others, but not more than a thousand of them.
      retention: { failed: { age: '90d', count: 1000 } },
    },
  },
  triggers: { digest: { job: 'digest', cron: '0 7 * * *', timezone: 'Europe/London' } },
}
