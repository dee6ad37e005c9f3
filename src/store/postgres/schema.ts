import type { Migration } from '../sql/migration.js'
import { version1 } from './migrations/version-1.js'
import { version2 } from './migrations/version-2.js'
import { version3 } from './migrations/version-3.js'
import { version4 } from './migrations/version-4.js'
import { version5 } from './migrations/version-5.js'
import { version6 } from './migrations/version-6.js'
import { version7 } from './migrations/version-7.js'
import { version8 } from './migrations/version-8.js'
import { version9 } from './migrations/version-9.js'
import { version10 } from './migrations/version-10.js'
import { version11 } from './migrations/version-11.js'
import { version12 } from './migrations/version-12.js'

/** All steps, oldest first. The schema itself is created before them. */
export const migrations: readonly Migration[] = [
  version1,
  version2,
  version3,
  version4,
  version5,
  version6,
  version7,
  version8,
  version9,
  version10,
  version11,
  version12,
]

/** The schema version that this code writes. */
export const schemaVersion = version12.version
