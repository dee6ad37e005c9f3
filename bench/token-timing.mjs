// How long the check of a wrong token takes, by how much of it is right. Usage: npm run build && node
// bench/token-timing.mjs
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rota } from '../dist/index.js'
import { callerOfToken, createToken } from '../dist/server/access/tokens.js'

const rounds = Number(process.argv[2] ?? 20_000)
const directory = mkdtempSync(join(tmpdir(), 'rota-timing-'))
const app = rota({ store: `sqlite:${join(directory, 'rota.db')}` })
const store = await app.store()
const now = Date.now()
const { token } = await createToken(store, { name: 'ci', role: 'read', expiresAt: undefined, now })

/** The token with a secret that is wrong from a position on. */
function wrongFrom(place) {
  const secret = token.length - 43
  const kept = token.slice(0, secret + place)
  return kept + token.slice(secret + place).replaceAll(/./g, (c) => (c === 'A' ? 'B' : 'A'))
}

const kinds = { 'all wrong': wrongFrom(0), 'half right': wrongFrom(21), 'one wrong': wrongFrom(42) }
const times = Object.fromEntries(Object.keys(kinds).map((name) => [name, new Float64Array(rounds)]))
for (let i = -1000; i < rounds; i += 1) {
  // In turns, so that other work of the machine affects all of them equally.
  for (const [name, given] of Object.entries(kinds)) {
    const start = performance.now()
    const caller = await callerOfToken(store, { token: given, now })
    const took = performance.now() - start
    if (caller !== undefined) throw new Error('a wrong token was accepted')
    if (i >= 0) times[name][i] = took
  }
}
for (const [name, found] of Object.entries(times)) {
  const sorted = found.toSorted()
  const at = (share) => (sorted[Math.floor(share * rounds)] * 1000).toFixed(2)
  console.log(`${name.padEnd(10)}  p10 ${at(0.1)}  median ${at(0.5)}  p90 ${at(0.9)} µs`)
}
await app.close()
rmSync(directory, { recursive: true })
