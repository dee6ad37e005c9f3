/** What a process can do, in the order in which it is shown. */
export const roles = ['scheduler', 'worker'] as const

/** One thing that a process does: plan what is due, or perform it. */
export type Role = (typeof roles)[number]

/** Which of them a process has. */
export type Roles = Readonly<Record<Role, boolean>>

/** Those that it has, by name. */
export function roleNames(given: Roles): readonly Role[] {
  return roles.filter((role) => given[role])
}
