import { type Command, onApp, storeOptions, zoneOption } from '../../cli/framework/command.js'
import { printList, printTable } from '../../cli/framework/print/table.js'
import { hereOf } from '../../cli/framework/times-of.js'
import type { CalendarsApp } from './api.js'
import { nextStretches } from './status.js'

const list: Command<CalendarsApp> = {
  name: 'list',
  summary: 'list the calendars and who uses them',
  options: [zoneOption, ...storeOptions],
  examples: { 'rota calendar list': 'all calendars of the store' },
  run: onApp(async (app, { out }) => {
    printList(out, await app.calendars.list(), {
      columns: [
        'name',
        { title: 'times', text: ({ times }) => timesOf(times), shortest: 20 },
        { title: 'included by', text: ({ includedBy }) => includedBy.join(', ') || '-' },
        { title: 'excluded by', text: ({ excludedBy }) => excludedBy.join(', ') || '-' },
      ],
      empty: 'no calendars; a config defines them under `calendars`',
    })
  }),
}

function timesOf(times: readonly string[]): string {
  const [first = 'nothing', ...more] = times
  return more.length === 0 ? first : `${first} and ${more.length} more`
}

const show: Command<CalendarsApp> = {
  name: 'show',
  summary: 'show what is in a calendar, and its next days',
  about: 'Shows what is in a calendar, the triggers that use it, and its next periods, with days in --zone.',
  arguments: [{ name: 'name', help: 'the calendar' }],
  options: [
    { name: 'count', short: 'n', value: 'n', help: 'how many periods; default: 5', whole: [1, 1000] },
    zoneOption,
    ...storeOptions,
  ],
  examples: { 'rota calendar show holidays --zone Europe/Berlin': 'the next days that it has' },
  run: onApp(async (app, context) => {
    const { args, out } = context
    const info = await app.calendars.get(args.word(0))
    const { zone: timezone, now: after } = hereOf(context)
    const asked = { name: info.name, timezone, after, count: args.whole('count') ?? 5 }
    const next = await nextStretches(await app.store(), asked)
    out.show({ ...info, timezone, next }, () => {
      out.line(`${out.colors.bold(info.name)}  ${info.source}`)
      for (const text of info.times.slice(0, shownTimes)) out.line(`  ${text}`)
      if (info.times.length > shownTimes) out.line(`  … and ${info.times.length - shownTimes} more`)
      for (const [how, names] of Object.entries({ included: info.includedBy, excluded: info.excludedBy }))
        if (names.length > 0) out.line(`${how} by ${names.join(', ')}`)
      out.line()
      if (next.length === 0) out.line('all of it is in the past')
      else
        printTable(out, next, [
          { title: `from (${timezone})`, text: ({ from }) => from },
          { title: 'until', text: ({ until }) => until },
        ])
    })
  }),
}

const shownTimes = 20

/** `rota calendar`: days and times by name. */
export const calendar: Command<CalendarsApp> = {
  name: 'calendar',
  about:
    'A calendar is a named set of days and times. Triggers, rounds and sensors are due only in the calendars that they include, and not in those that they exclude. A config defines calendars under `calendars`.',
  examples: {
    'rota calendar list': 'all calendars and who uses them',
    'rota calendar show holidays': 'the next days that it has',
  },
  subcommands: [list, show],
}
