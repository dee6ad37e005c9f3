import { jsonAnswer, type PlainAnswer } from './answer.js'

/** The parts of an app that health checks need. */
export interface HealthyApp {
  /** Whether it was started and can claim runs. */
  readonly isReady: boolean
  /** Fails if the store cannot be read. */
  probe(): Promise<void>
}

/** Answers `/health/live` and `/health/ready`. It shows nothing else, because everybody may call it. */
export async function healthAnswer(app: HealthyApp, question: 'live' | 'ready'): Promise<PlainAnswer> {
  if (question === 'live') return jsonAnswer({ status: 'ok' })
  try {
    await app.probe()
  } catch {
    return jsonAnswer({ status: 'the store cannot be read' }, 503, { 'retry-after': '5' })
  }
  return app.isReady
    ? jsonAnswer({ status: 'ok' })
    : jsonAnswer({ status: 'not ready' }, 503, { 'retry-after': '5' })
}
