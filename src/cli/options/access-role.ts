import { roles, type Role } from '../../wire/role.js'
import { usageError } from '../framework/usage-error.js'

/** Reads a role of the HTTP API from an option. */
export function roleOf(text: string, command: string): Role {
  const found = roles.find((role) => role === text)
  if (found !== undefined) return found
  const fault = {
    path: '--role',
    message: `${JSON.stringify(text)} is not a role`,
    allowed: roles.join(', '),
  }
  throw usageError([fault], `see \`rota ${command} --help\``)
}
