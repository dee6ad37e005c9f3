import {
  changeOptions,
  exitCodes,
  onApp,
  storeOptions,
  zoneOption,
  type Command,
} from '../../cli/framework/command.js'
import { printTable } from '../../cli/framework/print/table.js'
import { formatDuration } from '../../time/duration.js'
import type { AlertsApp } from './api.js'
import { statusView, testView } from './views.js'

const list: Command<AlertsApp> = {
  name: 'list',
  summary: 'list rules and channels, and what is quiet',
  examples: { 'rota alert list': 'which channel gets what' },
  options: [zoneOption, ...storeOptions],
  run: onApp(async (app, { out }) => {
    const status = await app.alerts.list()
    out.show(statusView(status), () => {
      const { channels, rules, subjects } = status
      if (channels.length === 0 && rules.length === 0) {
        out.say('no alerts; `alerts` of a config defines them')
        return
      }
      printTable(out, rules, [
        { key: 'name', title: 'rule' },
        { title: 'on', text: ({ on }) => on.join(', '), shortest: 20 },
        { title: 'channels', text: (rule) => rule.channels.join(', ') },
        {
          title: 'about',
          text: ({ jobs, triggers }) => [...(jobs ?? []), ...(triggers ?? [])].join(', ') || 'all',
          shortest: 10,
        },
        { title: 'group', text: ({ groupMs }) => formatDuration(groupMs) },
        { title: 'quiet', text: ({ quietMs }) => formatDuration(quietMs) },
      ])
      out.line('')
      printTable(out, channels, [
        { key: 'name', title: 'channel' },
        'kind',
        { key: 'lastSentAt', title: 'last sent (zone)' },
        { title: 'not sent', text: ({ lastFailure }) => lastFailure?.text, shortest: 20, color: () => 'red' },
      ])
      if (subjects.length === 0) return
      out.line('')
      printTable(out, subjects, [
        { key: 'subject', title: 'about' },
        'rule',
        { key: 'waiting', title: 'waiting' },
        { key: 'sendAt', title: 'sent at (zone)' },
        { key: 'quietUntil', title: 'quiet until (zone)' },
      ])
    })
  }),
}

const test: Command<AlertsApp> = {
  name: 'test',
  summary: 'send a test message and say what happened',
  about:
    'Sends a test message through one channel of the config, or all of them, from this process, with its environment and network.',
  arguments: [{ name: 'channel', help: 'the channel; default: all of them', isOptional: true }],
  examples: { 'rota alert test': 'try every channel', 'rota alert test ops': 'try one' },
  options: changeOptions,
  run: ({ args, out, withConfigApp }) =>
    withConfigApp(async (app) => {
      const dryRun = args.flag('dry-run')
      const tests = await app.alerts.test(args.optionalWord(0), { dryRun })
      out.show(testView(tests), () => {
        for (const { channel, kind, isSent, result, tookMs } of tests) {
          const said = typeof result === 'string' ? result : JSON.stringify(result)
          const what = `${isSent ? 'sent' : 'not sent'} in ${tookMs}ms: ${said}`
          out.line(`${channel} (${kind}): ${dryRun ? 'sent a test message' : what}`)
        }
      })
      if (dryRun) return exitCodes.ok
      return tests.every(({ isSent }) => isSent) ? exitCodes.ok : exitCodes.failed
    }),
}

/** `rota alert`: shows and tests alerts. */
export const alert: Command<AlertsApp> = {
  name: 'alert',
  about:
    'Shows which problems are reported to which channels, and sends test messages. Rules and channels are defined under `alerts` in the config, or with `app.alerts`.',
  subcommands: [list, test],
  examples: {
    'rota alert list': 'rules, channels and what is quiet',
    'rota alert test': 'send a test message',
  },
}
