export { FakeClock, settled } from './fake-clock.js'
export { crashable, type CrashableStore } from './crash-point.js'
export { SeededRandom } from './random.js'
export { simulate, type Simulation, type SimulationReport } from './simulation.js'
