import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { until } from '../faults/failover.js'
import { Host } from '../faults/host.js'
import { judge } from '../faults/judge.js'
import { Network } from '../faults/network.js'
import { owner, ServerProcess } from '../fixtures/server-process.js'

const healMs = 10_000
const leaseMs = 2000

it('G4–G6: a host that is cut off for longer than its lease is replaced, and recovers automatically', async () => {
  const network = Network.make()
  if (network === undefined) {
    console.log('passed over: this machine does not let make network namespaces (`ip netns add`)')
    return
  }
  const directory = await mkdtemp(join(tmpdir(), 'rota-partition-'))
  const diary = join(directory, 'diary.txt')
  await writeFile(diary, '')
  const address = network.add('db')
  const { uid, gid } = owner()
  const server = await ServerProcess.start({
    settings: { listen_addresses: address },
    within: [...network.within('db'), 'setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'],
    network: network.addresses,
  })
  const store = `postgres://rota@${address}:5432/postgres?schema=rota`
  const fromAt = Date.now()
  const hosts = ['a', 'b'].map((name) => {
    network.add(name)
    const state = join(directory, name)
    const within = network.within(name)
    return new Host({ roles: 'scheduler,worker', store, diary, fromAt, state, within })
  })
  const begunBy = async (host: Host | undefined, sinceAt: number): Promise<boolean> => {
    const lines = (await readFile(diary, 'utf8')).split('\n').map((line) => line.split(' '))
    return lines.some(
      ([what, , , at, pid]) => what === 'begin' && Number(at) > sinceAt && Number(pid) === host?.pid,
    )
  }
  const [a, b] = hosts
  const healed: Record<string, number> = {}
  try {
    await Promise.all(hosts.map((host) => host.start()))
    await until(async () => (await begunBy(a, 0)) && (await begunBy(b, 0)))
    for (const cable of ['a', 'b', 'db']) {
      network.unplug(cable)
      const cutAt = Date.now()
      await wait(leaseMs + 2000)
      // The other side continues alone.
      if (cable !== 'db') await until(() => begunBy(cable === 'a' ? b : a, cutAt + leaseMs))
      await wait(leaseMs + 2000)
      network.plug(cable)
      const backAt = Date.now()
      const away = cable === 'db' ? hosts : [cable === 'a' ? a : b]
      for (const host of away) await until(() => begunBy(host, backAt))
      healed[cable] = Date.now() - backAt
      await wait(2000)
    }
    await wait(5000)
    await Promise.all(hosts.map((host) => host.stop()))
    const asked = { acknowledged: [], rolledBack: [], ordered: [] }
    const { broken, ...counts } = await judge(`${server.url}&schema=rota`, diary, asked)
    console.log('healed after', JSON.stringify(healed), JSON.stringify(counts))
    expect(broken.slice(0, 10)).toEqual([])
    expect(hosts.flatMap(({ ends }) => ends)).toEqual([])
    expect(Object.values(healed).filter((ms) => ms > healMs)).toEqual([])
  } finally {
    await Promise.all(hosts.map((host) => host.stop()))
    await server.remove()
    network.remove()
    await rm(directory, { recursive: true })
  }
})
