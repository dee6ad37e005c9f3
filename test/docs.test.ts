import { existsSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { describe, expect, test } from 'vitest'
import { rota } from '../src/app/rota.js'
import { errorTodo } from '../src/kernel/definition/error-todo.js'
import { errorCodes } from '../src/kernel/definition/errors.js'
import { slaRules } from '../src/kernel/sla/sla.js'
import { runHere } from './cli/in-process.js'
import { builtSchema, type Schema } from './config-schema.js'
import { isOfAbsentFeature, isWhole } from './features.js'
import { filesUnder, root } from './repository.js'

const pages = filesUnder('.', ['.md'])
const commands = await commandNames()

describe('the reference', () => {
  test('errors.md lists exactly the existing codes', () => {
    const listed = [...page('docs/reference/errors.md').matchAll(/^\| `([A-Z_]+)` \|/gm)].map(
      (match) => match[1],
    )
    expect(new Set(listed)).toEqual(new Set(Object.keys(errorCodes)))
    expect(listed.length).toBe(Object.keys(errorCodes).length)
  })

  test('errors.md gives the same advice as the API and the commands', () => {
    const rows = page('docs/reference/errors.md').matchAll(/^\| `([A-Z_]+)` \| .*? \| (.*) \|$/gm)
    const said = [...rows].map(([, code, todo = '']) => [code, todo.replace(/\[([^\]]+)\]\([^)]+\)/g, '$1')])
    expect(Object.fromEntries(said)).toEqual(errorTodo)
    const vague = Object.values(errorTodo).filter((todo) => !/^[A-Z].*\.$/.test(todo))
    expect(vague).toEqual([])
  })

  test('policies.md has every reason and rule of the ledger, and every promise of an SLA', () => {
    const text = page('docs/reference/policies.md')
    const ledger = page('src/kernel/ledger/ledger.ts')
    const literals = [...ledger.matchAll(/^ {2}\| '([a-z:-]+)'$/gm)].map((match) => match[1] ?? '')
    const isThere = (name: string): boolean =>
      text.includes(`\`${name}\``) || text.includes(`\`${name.split(':')[0]}:…\``)
    expect(literals.length).toBeGreaterThan(20)
    expect([...literals, ...slaRules].filter((name) => !isThere(name))).toEqual([])
  })

  test('config.md names every key of the config', () => {
    const text = page('docs/reference/config.md')
    const missing = keysOf(builtSchema('config')).filter((key) => !text.includes(`\`${key}\``))
    expect(missing).toEqual([])
  })

  test.skipIf(!isWhole)('config.md has no key in its tables that the config does not know', () => {
    const rows = [...page('docs/reference/config.md').matchAll(/^\| ((?:`\w+`(?:, )?)+) \|/gm)]
    const written = rows.flatMap((row) =>
      [...(row[1] ?? '').matchAll(/`(\w+)`/g)].map((match) => match[1] ?? ''),
    )
    // Only code can write a function, so the schema of a file does not have it.
    const known = new Set([...keysOf(builtSchema('config')), 'handler', 'steps'])
    expect(written.filter((key) => !known.has(key))).toEqual([])
  })

  test('library.md names every method of an app', () => {
    const text = page('docs/reference/library.md')
    const methods = Object.entries(rota({ store: 'memory:' })).flatMap(([name, member]: [string, unknown]) =>
      typeof member === 'function' ? [name] : methodsOf(member).map((method) => `${name}.${method}`),
    )
    // Only the server calls `sensors.hook`.
    const missing = methods.filter((method) => !text.includes(`${method}(`) && method !== 'sensors.hook')
    expect(methods.length).toBeGreaterThan(40)
    expect(missing).toEqual([])
  })

  test('cli.md has a section for every command, in the order of the help', () => {
    expect(commands.length).toBeGreaterThan(20)
    expect(documentedCommands().filter((command) => !command.includes(' '))).toEqual(commands)
  })

  test.each(documentedCommands())('cli.md names the options of rota %s, and no others', async (command) => {
    const text = await help(...command.split(' '))
    const shown = optionsIn(text.split(/^options:$/m)[1]?.split(/^examples:$/m)[0] ?? '')
    const documented = optionsIn(tableOf(command)).filter((option) => isWhole || shown.includes(option))
    expect(documented).toEqual(shown.filter((option) => option !== '--help'))
  })
})

describe('requirements.md', () => {
  const legend = `${page('docs/requirements.md')}\n${page('docs/guarantees.md')}`
  const explained = new Set([...legend.matchAll(/^\| ([A-Z]\d+) \|/gm)].map((match) => match[1]))

  test('explains every id that begins the name of a test', () => {
    const used = filesUnder('.', ['.ts']).flatMap(({ path, text }) =>
      [...text.matchAll(/['"`]([RNFQG]\d+(?:(?:, |–)[RNFQG]\d+)*): /g)].flatMap((match) =>
        (match[1] ?? '').split(/, |–/).map((id) => ({ path, id })),
      ),
    )
    expect(new Set(used.map(({ id }) => id)).size).toBeGreaterThan(isWhole ? 50 : 30)
    expect(used.filter(({ id }) => !explained.has(id))).toEqual([])
  })
})

describe('all pages', () => {
  test('relative links have a target', () => {
    const broken = pages.flatMap(({ path, text }) =>
      linksOf(text)
        .filter((link) => !/^[a-z]+:/.test(link))
        .filter((link) => !leadsSomewhere(path, link))
        .map((link) => `${path}: ${link}`),
    )
    expect(broken).toEqual([])
  })

  test('a block that names a file is equal to the file', () => {
    const blocks = pages.flatMap(({ path, text }) =>
      [...text.matchAll(/^```\w+ file=(\S+)\n([^]*?)^```$/gm)].map((match) => ({
        path,
        file: match[1],
        body: match[2],
      })),
    )
    expect(blocks.length).toBeGreaterThan(0)
    for (const { path, file, body } of blocks) {
      expect(body, `${path} shows ${file}`).toBe(readFileSync(join(root, file ?? ''), 'utf8'))
    }
  })

  test('paths of sources, tests and examples exist', () => {
    const missing = pages.flatMap(({ path, text }) =>
      [...text.matchAll(/`((?:src|test|bench|scripts|examples)\/[\w./-]+)`/g)]
        .map((match) => match[1] ?? '')
        .filter((file) => !existsSync(join(root, file)) && !isOfAbsentFeature(file))
        .map((file) => `${path}: ${file}`),
    )
    expect(missing).toEqual([])
  })

  test('every guide links to an example', () => {
    const guides = pages.filter(({ path }) => path.startsWith('docs/guides/'))
    expect(guides.filter(({ text }) => !text.includes('../../examples/')).map(({ path }) => path)).toEqual([])
  })

  test('every decision has a unique number, in its file name and in its title', () => {
    const numbers = pages
      .filter(({ path }) => path.startsWith('docs/decisions/'))
      .map(({ path, text }) => [
        posix.basename(path).slice(0, 4),
        /^# (\d+)\. /.exec(text)?.[1]?.padStart(4, '0'),
      ])
    expect(numbers.filter(([ofName, ofTitle]) => ofName !== ofTitle)).toEqual([])
    expect(new Set(numbers.map(([ofName]) => ofName)).size).toBe(numbers.length)
  })
})

function page(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

function methodsOf(object: unknown): readonly string[] {
  return Object.entries(object ?? {}).flatMap(([name, member]) =>
    typeof member === 'function' ? [name] : [],
  )
}

/** Every name of an option, however deep; the names of jobs and variables are the user's own. */
function keysOf(schema: Schema): string[] {
  const { properties = {}, additionalProperties, anyOf = [], items } = schema
  const within = typeof additionalProperties === 'object' ? keysOf(additionalProperties) : []
  const own = Object.entries(properties).flatMap(([key, value]) => [key, ...keysOf(value)])
  const listed = items === undefined ? [] : keysOf(items)
  return [...new Set([...own, ...within, ...listed, ...anyOf.flatMap(keysOf)])]
}

/** The output of the command, run in this process. */
async function help(...words: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runHere([...words, '--help'], { directory: root })
  if (code !== 0) throw new Error(`rota ${words.join(' ')} --help failed: ${stderr}`)
  return stdout
}

/** The commands that the help lists, whatever group they are in. */
async function commandNames(): Promise<string[]> {
  const [list = ''] = (await help()).split(/^examples:$/m)
  return [...list.matchAll(/^ {2}(\S+)/gm)].map((match) => match[1] ?? '')
}

/** The commands and subcommands that have a section in cli.md, without those of a removed feature. */
function documentedCommands(): string[] {
  const all = [...page('docs/reference/cli.md').matchAll(/^#{3,4} rota (.+)$/gm)].map(
    (match) => match[1] ?? '',
  )
  return all.filter((command) => isWhole || commands.includes(command.split(' ')[0] ?? ''))
}

/** The options in the table of a command's section, where each row begins with one. */
function tableOf(command: string): string {
  const [, section = ''] = page('docs/reference/cli.md').split(new RegExp(`^#{3,4} rota ${command}$`, 'm'))
  const rows = section.split(/^#+ /m)[0]?.match(/^\| `-[^`]+` \|/gm) ?? []
  return rows.map((row) => row.replace(/^\| `([^`]+)`.*$/, '  $1')).join('\n')
}

function optionsIn(text: string): string[] {
  return [...text.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map((match) => match[1] ?? '')
}

function linksOf(text: string): string[] {
  const prose = text.replace(/^```[^]*?^```$/gm, '').replace(/`[^`\n]*`/g, '')
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1] ?? '')
}

function leadsSomewhere(from: string, link: string): boolean {
  const [target = '', anchor] = link.split('#')
  const path = target === '' ? from : posix.join(posix.dirname(from), target)
  if (isOfAbsentFeature(path)) return true
  if (!existsSync(join(root, path))) return false
  return anchor === undefined || anchorsOf(page(path)).includes(anchor)
}

/** The anchors that a page's headings get when it is shown. */
function anchorsOf(text: string): string[] {
  const headings = [...text.replace(/^```[^]*?^```$/gm, '').matchAll(/^#+ (.*)$/gm)].map(
    (match) => match[1] ?? '',
  )
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}
