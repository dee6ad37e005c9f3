import { type Roles, roleNames, roles } from '../../engine/role.js'
import { quotedText } from '../../text/error-text.js'
import type { Switches } from '../../kernel/hold/switches.js'
import type { Surroundings } from '../framework/command.js'
import type { Option } from '../framework/syntax.js'
import { usageError, withGuess } from '../framework/usage-error.js'

/** What a process does. */
export const roleOption: Option = {
  name: 'role',
  formerly: 'roles',
  value: 'roles',
  help: `${roles.join(', ')}, or several with a comma; default: all`,
  isList: true,
}

/** What this process does, or the sentence that says why it does nothing. */
export function rolesOf({ args }: Surroundings, switches: Switches): Roles | string {
  const words = args.list('role').flatMap((text) => text.split(',').map((word) => word.trim()))
  const faults = [...new Set(words)].flatMap((word) => faultOf(word) ?? [])
  if (faults.length > 0) throw usageError(faults, 'see `rota up --help`')
  if (switches.pipeline === false) return 'PIPELINE_ENABLED is off: nothing was read, written or started'
  const wanted = roles.filter((role) => words.length === 0 || words.includes(role))
  const left = new Set<string>(wanted.filter((role) => switches[role] !== false))
  if (left.size > 0) return { scheduler: left.has('scheduler'), worker: left.has('worker') }
  const off = wanted.map((role) => `${role.toUpperCase()}_ENABLED`)
  return `${off.join(' and ')} ${off.length === 1 ? 'is' : 'are'} off: nothing was started`
}

/** The roles in a sentence. */
export function rolesText(given: Roles): string {
  return roleNames(given).join(' and ')
}

function faultOf(word: string) {
  if (roles.some((role) => role === word)) return undefined
  const allowed = `${roles.join(', ')}, or several with a comma`
  const guess = { word, known: roles }
  const message = unserved.get(word) ?? `${quotedText(word)} is not a role`
  return withGuess({ path: '--role', message, allowed, guess })
}

/** What people may expect of a process that this version does not do. */
const unserved: ReadonlyMap<string, string> = new Map([['api', 'this version has no HTTP API to serve']])
