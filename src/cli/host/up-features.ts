import type { App } from '../../app/rota.js'
import type { FeatureNotices } from '../../features/feature-notices.js'
import { findFeatures } from '../../features/find-features.js'
import type { UpExtension } from '../../features/up-extension.js'
import { serveOption } from '../options/serve-option.js'

/** The extensions of `rota up` by features. */
export interface UpFeatures {
  readonly extensions: readonly UpExtension<App>[]
  readonly notices: readonly FeatureNotices[]
}

/** Loads the extensions of `rota up` by features. */
export async function loadUpFeatures(): Promise<UpFeatures> {
  const features: readonly FeatureParts[] = findFeatures()
  const extensions = await Promise.all(features.flatMap(({ up }) => up?.() ?? []))
  const notices = await Promise.all(features.flatMap((one) => one.notices?.() ?? []))
  return { extensions: [serveOption, ...extensions], notices }
}

/** The parts of a feature that are loaded here, all of which can use this program's apps. */
interface FeatureParts {
  readonly name: string
  readonly up?: () => Promise<UpExtension<App>>
  readonly notices?: () => Promise<FeatureNotices>
}
