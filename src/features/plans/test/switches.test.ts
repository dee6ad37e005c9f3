import { describe, expect, it } from 'vitest'
import { runHere } from '../../../../test/cli/in-process.js'
import { emptyDirectory } from '../../../../test/cli/rota.js'

describe('a kill switch of the environment', () => {
  it('that is misspelt is reported with a suggestion', async () => {
    const environment = {
      WORKER_ENABLE: '0',
      SCHEDULER_ENABLED: '1',
      SCHEDULER_ENABLE: '1',
      OTHER_ENABLED: '1',
    }
    const { stderr } = await runHere(['work'], { directory: emptyDirectory(), environment })
    expect(stderr).toBe(
      'warning: WORKER_ENABLE is set and has no effect; did you mean WORKER_ENABLED?\nWORKER_ENABLED is off: nothing was done\n',
    )
  })
})
