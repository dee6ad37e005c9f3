import { chownSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { configIn, findConfig } from './find-config.js'

let top: string
let deep: string
let home: string | undefined

beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'rota-find-'))
  deep = join(top, 'project/src/inner')
  mkdirSync(deep, { recursive: true })
  home = process.env['HOME']
})

afterEach(() => {
  process.env['HOME'] = home
})

describe('the config that is used', () => {
  it('is the nearest upwards, beginning with the directory’s own', () => {
    const above = join(top, 'project/rota.config.yaml')
    writeFileSync(above, '')
    expect(findConfig(deep)).toBe(above)
    expect(configIn(deep)).toBeUndefined()
    writeFileSync(join(deep, 'rota.config.json'), '{}')
    expect(findConfig(deep)).toBe(join(deep, 'rota.config.json'))
  })

  it('is not looked for above the home directory', () => {
    writeFileSync(join(top, 'rota.config.yaml'), '')
    process.env['HOME'] = join(top, 'project')
    expect(findConfig(deep)).toBeUndefined()
    process.env['HOME'] = top
    expect(findConfig(deep)).toBe(join(top, 'rota.config.yaml'))
  })

  it.skipIf(process.getuid?.() !== 0)(
    'from a directory above is refused if it belongs to another user',
    () => {
      const foreign = join(top, 'rota.config.mjs')
      writeFileSync(foreign, '')
      chownSync(foreign, 65_534, 65_534)
      expect(() => findConfig(deep)).toThrow(
        'belongs to another user and is not used; accept it with --config',
      )
      expect(findConfig(dirname(foreign))).toBe(foreign)
    },
  )
})
