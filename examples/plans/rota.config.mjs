// The engine performs a plan, and a pipeline with its own schedule; see docs/guides/plans.md.
export default {
  app: 'plans',
  store: 'sqlite:data/plans.db',
  plans: ['schedule_plan.yaml'],
  // The functions that pipelines use.
  steps: {
    publish: (step) => {
      step.log(`${step.config.channel}: ${step.results.collect.stdout}`)
      return { channel: step.config.channel }
    },
  },
  jobs: { digest: { pipeline: 'pipeline.digest.yml', retry: { attempts: 3, delay: '1m' } } },
  triggers: { digest: { job: 'digest', cron: '0 7 * * *', timezone: 'Asia/Bangkok' } },
}
