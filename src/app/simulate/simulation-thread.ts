/** The thread of a simulation: it gets everything as data, and changes nothing. */
import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import { loadTriggerKinds } from '../features.js'
import { errorData, type ErrorData } from '../serve/messages.js'
import type { TriggerHistory } from './history.js'
import { runSimulation, type SimulationPlan, type SimulationResult } from './simulate.js'
import { virtualTables, type DefinedInStore } from './virtual-store.js'

/** The input of the thread. */
export interface SimulationThreadData {
  readonly stored: DefinedInStore
  readonly history: ReadonlyMap<string, TriggerHistory>
  readonly plan: Omit<SimulationPlan, 'onProgress'>
}

/** The messages of the thread. */
export type SimulationThreadMessage =
  | { readonly progress: number }
  | { readonly result: SimulationResult }
  | { readonly failed: ErrorData }

async function run({ stored, history, plan }: SimulationThreadData, port: MessagePort): Promise<void> {
  const tell = (message: SimulationThreadMessage): void => port.postMessage(message)
  try {
    const kinds = await loadTriggerKinds()
    const world = await virtualTables({ stored, kinds, at: plan.fromAt })
    const onProgress = (progress: number): void => tell({ progress })
    tell({ result: await runSimulation({ ...world, kinds, history }, { ...plan, onProgress }) })
  } catch (error) {
    tell({ failed: errorData(error) })
  }
}

if (parentPort !== null) await run(workerData as SimulationThreadData, parentPort)
