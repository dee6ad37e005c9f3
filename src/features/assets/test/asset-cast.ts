import type { Handler } from '../../../engine/worker/perform.js'
import { defineAsset, type AssetInput } from '../definition.js'
import type { CastPart } from '../../../../test/fixtures/engine-stage.js'

/** Assets of a simulated process, by name, each with its `materialize`. */
export function assetCast(assets: Readonly<Record<string, AssetInput>>): CastPart {
  const all = Object.entries(assets).map(([name, input]) => ({ ...defineAsset(name, input), input }))
  return {
    jobs: all.map(({ job, input }) => ({ job, handler: input.materialize as Handler })),
    triggers: () => all.flatMap(({ follower }) => follower ?? []),
  }
}
