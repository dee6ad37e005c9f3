import type { RunSpans } from './run-spans.js'
import { registeredTelemetry } from './telemetry.js'

/** The spans of an app. Loaded once, when the app first uses its store; without an SDK there are none and nothing is loaded. */
export class Tracing {
  #loading: Promise<void> | undefined
  #isLoaded = false
  #spans: RunSpans | undefined

  /** Whether `spans` is already known, so that no caller has to wait. */
  get isLoaded(): boolean {
    return this.#isLoaded
  }

  get spans(): RunSpans | undefined {
    return this.#spans
  }

  async load(): Promise<RunSpans | undefined> {
    this.#loading ??= this.#load()
    await this.#loading
    return this.#spans
  }

  async #load(): Promise<void> {
    const telemetry = await registeredTelemetry()
    if (telemetry !== undefined) {
      const { RunSpans } = await import('./run-spans.js')
      this.#spans = new RunSpans(telemetry)
    }
    this.#isLoaded = true
  }
}
