import type { Instant } from '../../time/instant.js'

/** Which sensor an event is about. */
export interface SensorNotice {
  sensor: string
}

declare module '../../engine/events.js' {
  interface EngineEvents {
    /** A sensor was polled, and the result is stored. */
    'sensor:polled': SensorNotice & {
      at: Instant
      kind: 'trigger' | 'no-trigger' | 'error'
      /** Why nothing was found, or what went wrong. */
      reason: string | undefined
      observations: number
      /** How many of them were new and became runs. */
      fresh: number
      /** How late the poll began. */
      lagMs: number
    }
    /** A poll failed; the sensor is polled again after a delay. */
    'sensor:failed': SensorNotice & { reason: string; failures: number; broken: boolean; retryInMs: number }
    /** The first successful poll after failures. */
    'sensor:recovered': SensorNotice & { failures: number }
    /** A sensor failed so often that it is paused until a person resumes it. */
    'sensor:paused': SensorNotice & { failures: number; reason: string }
    /** A poll continued after its signal aborted; its sensor is not polled meanwhile. */
    'sensor:stuck': SensorNotice & { afterMs: number }
  }
}
