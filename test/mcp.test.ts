import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { rota as newApp } from '../src/app/rota.js'
import { emptyDirectory, main, rota } from './cli/rota.js'
import { root } from './repository.js'

/** A store with a trigger and a failed run, and an agent that is connected to it through the real command. */
async function stage(...options: string[]) {
  const store = `sqlite:${join(emptyDirectory(), 'rota.db')}`
  const app = newApp({ store })
  app.job('mail', () => {
    throw new Error('no route to host')
  })
  app.schedule('nightly', { job: 'mail', cron: '0 2 * * *' })
  await app.start()
  const failed = await app.enqueue('mail', {})
  await app.runs.wait(failed.id)
  await app.stop()
  const agent = new Client({ name: 'test', version: '1' })
  const args = [main, ...exampleArguments(store), ...options]
  await agent.connect(new StdioClientTransport({ command: process.execPath, args, env: { USER: 'tester' } }))
  onTestFinished(() => agent.close())
  const call = async (name: string, given: Record<string, unknown> = {}) => {
    const { content, isError } = await agent.callTool({ name, arguments: given })
    const [{ text } = { text: '' }] = content as { text: string }[]
    return { isError: isError === true, answer: JSON.parse(text) as unknown }
  }
  return { agent, call, failed: failed.id, store }
}

/** What the example for clients runs, on a store of the test. */
function exampleArguments(store: string): string[] {
  const text = readFileSync(join(root, 'examples/agents/mcp.json'), 'utf8')
  const { mcpServers } = JSON.parse(text) as { mcpServers: { rota: { command: string; args: string[] } } }
  const [program, ...args] = mcpServers.rota.args
  expect([mcpServers.rota.command, program]).toEqual(['npx', 'rota'])
  return args.map((word) => (word.startsWith('sqlite:') ? store : word))
}

describe('rota mcp', () => {
  test('an agent with the role read lists, explains and reads, and sees no changing tool', async () => {
    const { agent, call, failed } = await stage()
    const { tools } = await agent.listTools()
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['list_runs', 'read_run', 'read_log', 'list_triggers', 'why', 'coverage']),
    )
    expect(tools.filter(({ annotations }) => annotations?.readOnlyHint !== true)).toEqual([])
    const { answer } = await call('list_runs', { state: 'failed', limit: 5 })
    expect(answer).toMatchObject({ items: [{ id: failed, error: { message: 'no route to host' } }] })
    const why = await call('why', { trigger: 'nightly', from: '2026-01-01T00:00:00Z' })
    expect(why).toMatchObject({ isError: false })
    expect(await call('retry_run', { id: failed, reason: 'x' })).toMatchObject({
      isError: true,
      answer: { code: 'TOOL_UNKNOWN' },
    })
  })

  test('an agent with the role operate gives a reason for each change', async () => {
    const { agent, call, failed, store } = await stage('--role', 'operate')
    const { tools } = await agent.listTools()
    const retry = tools.find(({ name }) => name === 'retry_run')
    expect(retry).toMatchObject({ inputSchema: { required: ['id', 'reason'] } })
    expect(await call('retry_run', { id: failed })).toMatchObject({
      isError: true,
      answer: { code: 'REQUEST_INVALID', detail: expect.stringContaining('reason') },
    })
    expect(await call('retry_run', { id: failed, reason: 'the host is back' })).toMatchObject({
      isError: false,
      answer: { id: failed, state: 'pending' },
    })
    await call('pause_trigger', { name: 'nightly', reason: 'too many mails', until: '2030-01-01T00:00:00Z' })
    const { stdout } = await rota(['show', 'nightly', '--store', store])
    expect(stdout).toMatch(/mcp:tester.*\n?.*too many mails/)
    expect(await call('enqueue', { job: 'mail', payload: { to: 'ann' }, reason: 'asked for' })).toMatchObject(
      {
        answer: { created: true },
      },
    )
  })

  test('bad arguments are refused with a code', async () => {
    const { call } = await stage()
    const cases = [
      ['list_runs', { state: 'broken' }, 'REQUEST_INVALID'],
      ['list_runs', { colour: 'red' }, 'REQUEST_INVALID'],
      ['read_run', {}, 'REQUEST_INVALID'],
      ['read_run', { id: '../tokens' }, 'RUN_UNKNOWN'],
      ['why', { trigger: 'nobody', from: '2026-01-01T00:00:00Z' }, 'TRIGGER_UNKNOWN'],
      ['preview_cron', { expression: '1--100000000 * * * *' }, 'CRON_SYNTAX'],
      ['drop_tables', {}, 'TOOL_UNKNOWN'],
    ] as const
    for (const [tool, given, code] of cases) {
      expect({ tool, ...(await call(tool, given)) }).toMatchObject({ tool, isError: true, answer: { code } })
    }
  })

  test('a role that does not exist is refused', async () => {
    const { code, stderr } = await rota(['mcp', '--role', 'root'])
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('read, operate, admin') })
  })
})
