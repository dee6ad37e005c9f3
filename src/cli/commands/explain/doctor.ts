import type { App } from '../../../app/rota.js'
import type { Finding } from '../../../app/doctor/doctor.js'
import { printable } from '../../../text/printable.js'
import { type Command, exitCodes, onApp, storeOptions } from '../../framework/command.js'
import { pick } from '../../../wire/to-json.js'
import type { Output } from '../../framework/print/output.js'
import { wrap } from '../../framework/print/wrap.js'

/** `rota doctor`: finds problems and prints what to do. */
export const doctor: Command<App> = {
  name: 'doctor',
  about:
    'Checks the store, the clock, versions, workers, triggers, runs and holds, and says what to do about each problem. Exit code 1 if something is broken.',
  options: [{ name: 'deep', help: 'also read the whole store, which takes a while' }, ...storeOptions],
  examples: {
    'rota doctor': 'all checks',
    'rota doctor --deep --json': 'every page of the store, for a program',
  },
  run: onApp(async (app, { args, out }) => {
    const findings = await app.doctor({ deep: args.flag('deep') })
    const isBroken = findings.some(({ level }) => level === 'error')
    const views = findings.map((one) => pick(one, ['check', 'level', 'message', 'todo']))
    out.show({ ok: !isBroken, findings: views }, () => print(out, findings))
    return isBroken ? exitCodes.failed : exitCodes.ok
  }),
}

const labels = { ok: 'ok', warn: 'warn', error: 'ERROR' } as const

function print(out: Output, findings: readonly Finding[]): void {
  const { green, yellow, red, dim } = out.colors
  const paints = { ok: green, warn: yellow, error: red }
  const isNarrow = out.width < 60
  const indent = isNarrow ? 2 : 17
  for (const { check, level, message, todo } of findings) {
    const label = `${paints[level](labels[level].padEnd(5))}  ${dim(isNarrow ? check : check.padEnd(8))}`
    const lines = wrap(printable(message), out.width - indent)
    const [first = ''] = isNarrow ? [] : lines.splice(0, 1)
    out.line(`${label}  ${first}`.trimEnd())
    if (todo !== undefined) lines.push(...wrap(`→ ${printable(todo)}`, out.width - indent))
    for (const line of lines) out.line(`${' '.repeat(indent)}${line}`)
  }
}
