// Sends one request with an Idempotency-Key to an app that is served here, and dies where it is told to.
import pg from 'pg'
import { rota } from '../../dist/index.js'

const [store, where, path, body, key] = process.argv.slice(2)
const app = rota({ store })
app.job('greet', () => 'hello')
const die = () => process.kill(process.pid, 'SIGKILL')
// Told when the change is committed, before its answer is kept.
if (where === 'committed') app.on('operation', die)
const handler = app.handler({ authorize: () => ({ actor: 'ann', role: 'admin' }) })
const request = new Request(`http://127.0.0.1/api/v1${path}`, {
  method: 'POST',
  headers: { host: '127.0.0.1', 'content-type': 'application/json', 'idempotency-key': key },
  body,
})
// Whatever opens the store is not counted.
await app.runs.list()
const commits = countCommits()
const response = await handler(request)
if (where === 'answered') die()
const replayed = response.headers.get('idempotency-replayed')
const answer = { status: response.status, replayed, body: await response.json() }
process.stdout.write(JSON.stringify({ ...answer, commits: commits.count }))
await handler.close()
await app.close()

/** Counts the commits of Postgres. `before-commit-3` dies before the third one, `commit-3` before it hears its answer. */
function countCommits() {
  const [, before, wanted] = /^(before-)?commit-(\d+)$/.exec(where) ?? []
  const counted = { count: 0 }
  const { query } = pg.Client.prototype
  pg.Client.prototype.query = function (...given) {
    const isCommit = (given[0].text ?? given[0]) === 'commit'
    if (isCommit) counted.count += 1
    const dies = isCommit && counted.count === Number(wanted)
    if (dies && before !== undefined) die()
    const answer = query.apply(this, given)
    if (dies) setImmediate(die)
    return answer
  }
  return counted
}
