import { type Roles, roleNames, roles } from '../../engine/role.js'
import { quotedText } from '../../text/error-text.js'
import type { Switches } from '../../kernel/hold/switches.js'
import type { Surroundings } from '../framework/command.js'
import type { Option } from '../framework/syntax.js'
import { usageError, withGuess } from '../framework/usage-error.js'

/** The roles of the option; `api` alone plans and performs nothing. */
const words = [...roles, 'api'] as const

/** The option for the roles of a process. */
export const roleOption: Option = {
  name: 'role',
  formerly: 'roles',
  value: 'roles',
  help: `${words.join(', ')}, or several with a comma; default: all`,
  isList: true,
}

/** The roles of this process, or a sentence that explains why it has none. */
export function rolesOf({ args }: Surroundings, switches: Switches): Roles | string {
  const given = args.list('role').flatMap((text) => text.split(',').map((word) => word.trim()))
  const faults = [...new Set(given)].flatMap((word) => faultOf(word) ?? [])
  if (faults.length > 0) throw usageError(faults, 'see `rota up --help`')
  if (switches.pipeline === false) return 'PIPELINE_ENABLED is off: nothing was read, written or started'
  const wanted = roles.filter((role) => given.length === 0 || given.includes(role))
  const left = new Set<string>(wanted.filter((role) => switches[role] !== false))
  const isServing = given.includes('api')
  if (left.size > 0 || isServing) return { scheduler: left.has('scheduler'), worker: left.has('worker') }
  const off = wanted.map((role) => `${role.toUpperCase()}_ENABLED`)
  return `${off.join(' and ')} ${off.length === 1 ? 'is' : 'are'} off: nothing was started`
}

/** The roles in a sentence. */
export function rolesText(given: Roles): string {
  const names = roleNames(given)
  return names.length === 0 ? 'api' : names.join(' and ')
}

function faultOf(word: string) {
  if (words.some((known) => known === word)) return undefined
  const allowed = `${words.join(', ')}, or several with a comma`
  return withGuess({
    path: '--role',
    message: `${quotedText(word)} is not a role`,
    allowed,
    guess: { word, known: words },
  })
}
