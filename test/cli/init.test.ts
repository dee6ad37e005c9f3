import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { configText, formats } from '../../src/cli/views/config-text.js'
import { completionScript } from '../../src/cli/framework/completion-script.js'
import { program } from '../../src/cli/commands.js'
import { configSections } from '../../src/app/definitions/load-app.js'
import { loadConfig } from '../../src/formats/config/config-file.js'
import { emptyDirectory, rota } from './rota.js'

describe('rota init', () => {
  it.each(formats)('writes a config in %s that can be loaded', async (format) => {
    const path = join(emptyDirectory(), `rota.config.${format}`)
    const answers = {
      format,
      app: 'demo',
      store: 'sqlite:a"b.db',
      cron: '0 9 * * *',
      timezone: 'Europe/Berlin',
    }
    writeFileSync(path, configText(answers, false))
    expect(await loadConfig(path, configSections)).toMatchObject({
      kind: 'config',
      config: {
        app: 'demo',
        store: 'sqlite:a"b.db',
        definitions: {
          jobs: [{ job: { name: 'hello', timeoutMs: 60_000 } }],
          triggers: [
            {
              trigger: {
                name: 'hello',
                job: 'hello',
                schedule: { expression: '0 9 * * *', timezone: 'Europe/Berlin' },
              },
            },
          ],
        },
      },
    })
  })

  it.each(['mjs', 'ts'] as const)(
    'in %s has its types from the package where that is installed',
    async (format) => {
      const cwd = emptyDirectory()
      const root = fileURLToPath(new URL('../..', import.meta.url))
      mkdirSync(join(cwd, 'node_modules'))
      symlinkSync(root, join(cwd, 'node_modules', 'rota'))
      await rota(['init', '--yes', '--format', format], { cwd })
      const path = join(cwd, `rota.config.${format}`)
      expect(readFileSync(path, 'utf8')).toContain('import { defineConfig } from "rota"')
      expect(await rota(['list'], { cwd })).toMatchObject({
        code: 3,
        stderr: expect.stringContaining('[STORE_NOT_FOUND]') as unknown,
      })
    },
  )

  it('tells editors where its schema is', async () => {
    const answers = { app: 'demo', store: 'memory:', cron: '0 9 * * *', timezone: 'UTC' }
    expect(configText({ ...answers, format: 'yaml' }, true)).toMatch(
      /^# yaml-language-server: \$schema=\.\/node_modules\/rota\/dist\/rota\.config\.schema\.json\n/,
    )
    expect(JSON.parse(configText({ ...answers, format: 'json' }, true))).toMatchObject({
      $schema: './node_modules/rota/dist/rota.config.schema.json',
    })
  })

  it('takes the defaults with --yes, and never overwrites', async () => {
    const cwd = emptyDirectory()
    const first = await rota(['init', '--yes', '--cron', '@hourly'], { cwd })
    const file = join(cwd, 'rota.config.yaml')
    expect(first).toEqual({ code: 0, stdout: `wrote ${file}; \`rota up\` starts it\n`, stderr: '' })
    const text = readFileSync(file, 'utf8')
    const second = await rota(['init', '--yes', '--format', 'json'], { cwd })
    expect(second).toMatchObject({ code: 2, stdout: '' })
    expect(second.stderr).toContain('already exists and is not overwritten')
    expect(readFileSync(file, 'utf8')).toBe(text)
  })

  it('asks nothing without a terminal, and refuses a config that would not run', async () => {
    const [asked, cron, format, json] = await Promise.all([
      rota(['init']),
      rota(['init', '--yes', '--cron', 'never']),
      rota(['init', '--yes', '--format', 'toml']),
      rota(['init', '--yes', '--format', 'ts', '--json']),
    ])
    expect(asked).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--yes takes the defaults') as unknown,
    })
    expect(cron).toMatchObject({ code: 2, stderr: expect.stringContaining('[CRON_') as unknown })
    expect(format).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('(allowed: yaml, json, mjs, ts)') as unknown,
    })
    expect(JSON.parse(json.stdout)).toMatchObject({ format: 'ts', store: 'sqlite:data/rota.db' })
  })
})

describe('rota completion', () => {
  it.each(['bash', 'zsh', 'fish'] as const)('for %s knows every command and its options', async (shell) => {
    const commands = await program.commands()
    const script = await completionScript(shell, commands)
    for (const name of Object.keys(commands)) expect(script).toContain(name)
    expect(script).toContain('unique-key')
  })

  it('is a script that bash can read and that completes', async () => {
    const { code, stdout } = await rota(['completion', 'bash'])
    expect(code).toBe(0)
    expect(spawnSync('bash', ['-n'], { input: stdout }).status).toBe(0)
    const complete = (...words: string[]): string[] => {
      const list = words.map((word) => `'${word}'`).join(' ')
      const ask = `${stdout}\nCOMP_WORDS=(rota ${list}); COMP_CWORD=${words.length}; _rota; echo "\${COMPREPLY[@]}"`
      return spawnSync('bash', ['-c', ask], { encoding: 'utf8' }).stdout.trim().split(' ')
    }
    expect(complete('co')).toEqual(['coverage', 'completion'])
    expect(complete('runs', '--st')).toEqual(['--state', '--store'])
    expect(complete('runs', '--state', 'f')).toEqual(['failed'])
    expect(complete('switch', 'w')).toEqual(['worker'])
    expect(complete('switch', 'worker', 'o')).toEqual(['on', 'off'])
    expect(complete('switch', '--reason', 'o', 'w')).toEqual(['worker'])
    expect(complete('switch', '--reason', '=', 'o', 'w')).toEqual(['worker'])
    expect(complete('switch', 'worker', 'on', 'o')).toEqual([''])
    expect(complete('run', '--', 'w')).toEqual([''])
  })

  it('is refused for an unknown shell', async () => {
    const { code, stderr } = await rota(['completion', 'cmd'])
    expect(code).toBe(2)
    expect(stderr).toContain('(allowed: bash, zsh, fish)')
  })
})
