import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** The names under which a config is looked for, in this order. */
export const configNames: readonly string[] = ['ts', 'js', 'mjs', 'yaml', 'yml', 'json'].map(
  (extension) => `rota.config.${extension}`,
)

/** The config of a directory, if it has one. */
export function findConfig(directory: string): string | undefined {
  return configNames.map((name) => join(directory, name)).find((path) => existsSync(path))
}
