import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { rota } from '../src/app/rota.js'
import { main, rota as run } from './cli/rota.js'
import { root } from './repository.js'

const text = (file: string): string => readFileSync(join(root, 'examples/deploy', file), 'utf8')

describe('the files for Prometheus and Grafana', () => {
  it.each(['prometheus-rules.yaml', 'grafana/rota.json'])('%s asks for metrics that exist', async (file) => {
    const app = rota({ store: 'memory:' })
    app.job('greet', () => 'hello')
    const api = app.handler({ authorize: () => ({ actor: 'prometheus', role: 'read' }) })
    const exposed = await (await api(new Request('http://127.0.0.1/metrics'))).text()
    const names = new Set([...exposed.matchAll(/^# HELP (\w+) /gm)].map((match) => match[1]))
    await api.close()
    await app.close()
    const asked = [...text(file).matchAll(/\b(?:rota|nodejs)_\w+/g)].map(([name]) =>
      name.replace(/_bucket$/, ''),
    )
    expect(asked.length).toBeGreaterThan(5)
    expect(asked.filter((name) => !names.has(name))).toEqual([])
  })

  it('every alert says what to do', () => {
    const { groups } = parse(text('prometheus-rules.yaml')) as { groups: { rules: object[] }[] }
    const rules = groups.flatMap((group) => group.rules)
    expect(rules.length).toBeGreaterThan(5)
    for (const rule of rules) {
      expect(rule).toMatchObject({
        annotations: { summary: expect.any(String), description: expect.any(String) },
      })
    }
  })
})

describe('the files that start Rota', () => {
  it('start it with options that it has', async () => {
    const { stdout } = await run(['up', '--help'])
    const known = new Set([...stdout.matchAll(/--[a-z-]+/g)].map(([option]) => option))
    const lines = [
      ...text('rota.service').matchAll(/^ExecStart=.*$/gm),
      ...text('Dockerfile').matchAll(/^CMD.*$/gm),
      ...text('kubernetes/rota.yaml').matchAll(/^ +args: .*$/gm),
    ].map(([line]) => line)
    expect(lines).toHaveLength(3)
    const used = lines.flatMap((line) => [...line.matchAll(/--[a-z-]+/g)].map(([option]) => option))
    expect(used.length).toBeGreaterThan(5)
    expect(used.filter((option) => !known.has(option))).toEqual([])
  })

  it('name the program at its path in the package', () => {
    const { bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { bin: { rota: string } }
    const place = `node_modules/rota/${bin.rota.replace('./', '')}`
    expect(existsSync(main)).toBe(true)
    expect(text('rota.service')).toContain(place)
    expect(text('Dockerfile')).toContain(place)
  })

  it('the Kubernetes manifests have one of each kind, and probe existing paths', () => {
    const manifests = parseAllDocuments(text('kubernetes/rota.yaml')).map(
      (one) => one.toJS() as { kind: string },
    )
    expect(manifests.map(({ kind }) => kind)).toEqual([
      'Secret',
      'Deployment',
      'Service',
      'PodDisruptionBudget',
    ])
    const probes = [...text('kubernetes/rota.yaml').matchAll(/path: (\/\w+\/\w+)/g)].map((match) => match[1])
    expect(probes).toEqual(['/health/live', '/health/ready'])
  })

  it('the unit passes the check of systemd, if it is installed', () => {
    const { status, stderr, error } = spawnSync(
      'systemd-analyze',
      ['verify', '--man=no', join(root, 'examples/deploy/rota.service')],
      { encoding: 'utf8' },
    )
    if (error !== undefined) return
    // The user and the programs of the unit need not exist on this machine.
    const faults = stderr.split('\n').filter((line) => /Unknown|Failed to parse|Invalid/.test(line))
    expect({ status: typeof status, faults }).toEqual({ status: 'number', faults: [] })
  })
})
