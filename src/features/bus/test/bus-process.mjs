// One process of an app that uses the bus. Its first argument says what it does; it reports events to its parent.
import { rota } from '../../../../dist/index.js'
import { systemClock } from '../../../../dist/time/clock.js'

const { store, role, isPolling = true, isStuck = false } = JSON.parse(process.argv[2])
const tell = (message) => process.send({ pid: process.pid, ...message })

/** No timer of a second or more ever fires, so there is no slow poll. */
const withoutPoll = {
  ...systemClock,
  sleep: (ms, signal) => (ms < 1000 ? systemClock.sleep(ms, signal) : aborted(signal)),
  timer: (ms, fire, options) => (ms < 1000 ? systemClock.timer(ms, fire, options) : () => undefined),
}

function aborted(signal) {
  return new Promise((resolve) => {
    if (signal?.aborted === true) resolve()
    signal?.addEventListener('abort', () => resolve(), { once: true })
  })
}

const app = rota({
  store,
  app: role === 'subscriber' ? 'subscriber' : 'owner',
  lease: '1s',
  durability: 'normal',
  concurrency: 1,
  bus: { offerAfter: '100ms' },
  clock: isPolling ? systemClock : withoutPoll,
})

switch (role) {
  case 'scheduler': {
    const payload = { command: 'check_status', user_id: 'user1', metadata: { room: 'a' } }
    app.job('check', () => tell({ event: 'unexpected' }))
    app.schedule('job_123', { job: 'check', every: '500ms', payload, overlap: 'allow', catchUp: 'all' })
    await app.start({ roles: { worker: false } })
    break
  }
  case 'busy': {
    app.job('check', ({ id }) => {
      tell({ event: 'busy', run: id })
      return new Promise(() => undefined)
    })
    await app.start({ roles: { scheduler: false } })
    break
  }
  case 'subscriber': {
    app.bus.listen(({ name, event }) => name === 'run:offered' && tell({ event: 'offered', offer: event }))
    app.bus.subscribe({
      jobs: ['check'],
      take: (task, { id, attempt }) => {
        tell({ event: 'taken', run: id, attempt, task: task.id, at: app.now() })
        return isStuck ? new Promise(() => undefined) : 'taken'
      },
    })
    await app.start({ roles: { scheduler: false, worker: false } })
    break
  }
}
tell({ event: 'ready' })
process.on('message', () => undefined)
