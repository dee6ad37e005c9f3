/** The roles of callers; each may do what the ones before it may. */
export const roles = ['read', 'operate', 'admin'] as const

/** What a caller may do: read, operate (run, retry, pause), or also change definitions and access. */
export type Role = (typeof roles)[number]

/** Whether a role includes what another one may do. */
export function includesRole(role: Role | 'none', needed: Role | 'none'): boolean {
  return ranks.indexOf(role) >= ranks.indexOf(needed)
}

const ranks: readonly (Role | 'none')[] = ['none', ...roles]
