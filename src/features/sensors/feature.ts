import { featureConfig } from '../feature-config.js'
import type { Feature } from '../feature.js'
import type { Sensors } from './api.js'
import type { SensorsConfig } from './config.js'

/** The feature `sensors` without its object on the app. */
export const feature = {
  name: 'sensors',
  kinds: async () => [(await import('./kind.js')).sensorKind],
  checks: async () => [(await import('./health/findings.js')).sensorsBehind],
  loops: async (definitions) => {
    const { ownSensors } = await import('./sensor.js')
    const own = definitions.part(ownSensors)
    return own.size === 0 ? [] : [(await import('./polling/run.js')).sensorLoop(own)]
  },
  notices: async () => (await import('./notice.js')).sensorNotices,
  up: async () => (await import('./up.js')).webhooksOption,
  routes: async () => (await import('./routes.js')).sensorRoutes,
  gauges: async () => [(await import('./health/metrics.js')).lagGauge],
  doors: { hooks: async (app: { readonly sensors: Sensors }, request) => await app.sensors.hook(request) },
  commands: {
    sensor: {
      summary: 'inspect, reset and pause sensors',
      group: 'features',
      load: async () => (await import('./commands.js')).sensor,
    },
  },
  config: featureConfig<SensorsConfig>(['sensors'], () => import('./config.js')),
} as const satisfies Feature
