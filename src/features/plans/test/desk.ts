import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../../../test/repository.js'
import { emptyDirectory, rota, type Ended } from '../../../../test/cli/rota.js'

/** Both switches on. */
export const on = { SCHEDULER_ENABLED: 'true', WORKER_ENABLED: 'on' }

/** A directory with the pipeline of the example and the test's own plan. */
export class Desk {
  readonly cwd = emptyDirectory()

  constructor(entries: readonly string[]) {
    cpSync(join(root, 'examples/plans'), this.cwd, { recursive: true })
    this.plan(entries)
  }

  plan(entries: readonly string[]): void {
    const list = entries.length === 0 ? ' []' : `\n${entries.map((entry) => `  - ${entry}`).join('\n')}`
    writeFileSync(join(this.cwd, 'plan.yaml'), `schema_version: v1\nentries:${list}\n`)
  }

  async schedule(
    options: readonly string[] = [],
    env: Readonly<Record<string, string>> = on,
  ): Promise<Ended> {
    return await rota(['schedule', '--plan', 'plan.yaml', ...options], { cwd: this.cwd, env })
  }

  async work(options: readonly string[] = [], env: Readonly<Record<string, string>> = on): Promise<Ended> {
    return await rota(['work', ...options], { cwd: this.cwd, env })
  }

  files(folder: string): string[] {
    const path = join(this.cwd, 'data/queue', folder)
    return existsSync(path) ? readdirSync(path).toSorted() : []
  }

  artifacts(engine: string): string[] {
    const path = join(this.cwd, 'output', engine, 'artifacts')
    return existsSync(path) ? readdirSync(path).toSorted() : []
  }

  read(path: string): Record<string, unknown> {
    return JSON.parse(readFileSync(join(this.cwd, path), 'utf8')) as Record<string, unknown>
  }
}

/** The time this many seconds from now, as `2026-01-05T02:00:00Z`. */
export function at(seconds: number): string {
  return `${new Date(Date.now() + seconds * 1000).toISOString().slice(0, 19)}Z`
}

/** An entry of a plan, in braces. */
export function entry(publishAt: string, extra = ''): string {
  return `{ publish_at: "${publishAt}", pipeline_path: pipeline.web.yml${extra} }`
}
