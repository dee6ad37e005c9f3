// Many enqueues, few runs: debounce, throttle and a rate limit. The program exits when it is done.
import { rota } from 'rota'

const app = rota({ app: 'bursts', store: 'sqlite:data/bursts.db' })

const index = app.job('index', (run) => console.log(`indexed ${run.payload.text}`))
const alarm = app.job('alarm', (run) => console.log(`alarm: ${run.payload.text}`))
let mailedAt
const mail = app.job('mail', () => void (mailedAt = Date.now()), { limit: { max: 5, per: '1s' } })

await app.start()
const beganAt = Date.now()
const runs = []
for (const text of ['a', 'ab', 'abc']) {
  // The last one of a burst runs, after 300 ms without another.
  runs.push(await app.enqueue(index, { text }, { debounce: { key: 'page-7', wait: '300ms' } }))
  // The first one in an hour runs.
  runs.push(await app.enqueue(alarm, { text }, { throttle: { key: 'disk', per: '1h' } }))
  // All of them run, at most five in a second.
  runs.push(await app.enqueue(mail, { text }))
}
for (const run of runs) await run.result()
const [replaced, dropped] = await Promise.all(runs.slice(0, 2).map(({ id }) => app.runs.get(id)))
console.log(`one run for ${Number(replaced.labels.replaced_enqueues) + 1} enqueues of index`)
console.log(`${dropped.labels.dropped_enqueues} of alarm dropped`)
console.log(`the third mail waited for at least 400 ms: ${mailedAt - beganAt >= 400}`)
await app.stop()
