/** The roles of a process, in display order. */
export const roles = ['scheduler', 'worker'] as const

/** One role: plan what is due, or perform it. */
export type Role = (typeof roles)[number]

/** Which roles a process has. */
export type Roles = Readonly<Record<Role, boolean>>

/** The names of the roles that a process has. */
export function roleNames(given: Roles): readonly Role[] {
  return roles.filter((role) => given[role])
}
