import type { Json } from '../../../../kernel/definition/json.js'
import type { ConfiguredSensor, PollContext, PollResult } from '../../sensor.js'
import { messageOf } from '../body-pick.js'
import { refusalOf, type SqlDatabaseConfig } from './database.js'
import { watchChannel } from './listen.js'

/** A sensor that reads a database. If the reading throws, the poll has failed and the state stays. */
export function sqlSensor<Config extends SqlDatabaseConfig, State extends Json>(
  config: Config,
  first: State,
  read: (state: State, context: PollContext<Config>) => Promise<PollResult<State>>,
): ConfiguredSensor<Config, State> {
  return {
    type: 'sql',
    config,
    watch: config.listen === undefined ? undefined : watchChannel,
    sensor: {
      init: (given) => {
        const reason = refusalOf(given)
        return reason === undefined ? { kind: 'ok', state: first } : { kind: 'error', reason }
      },
      poll: async (state, context) => {
        try {
          return await read(state, context)
        } catch (error) {
          return { kind: 'error', reason: messageOf(error), state }
        }
      },
    },
  }
}
