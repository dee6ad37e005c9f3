/** The roles of callers; each includes the rights of the ones before it. */
export const roles = ['read', 'operate', 'admin'] as const

/** What a caller may do: read, operate (run, retry, pause), or also change definitions and access. */
export type Role = (typeof roles)[number]

/** Whether a role includes the rights of another one. */
export function includesRole(role: Role | 'none', needed: Role | 'none'): boolean {
  return ranks.indexOf(role) >= ranks.indexOf(needed)
}

const ranks: readonly (Role | 'none')[] = ['none', ...roles]
