/**
 * Watches, from a thread of an isolated handler's process, whether the worker is alive: descriptor 4 closes when the
 * worker ends for any reason. Then this process ends too, with everything it started; another worker takes over the run.
 */
import { Socket } from 'node:net'
import { signalGroup } from '../../handlers/process-group.js'

const lifeline = new Socket({ fd: 4 })
lifeline.on('error', () => undefined)
lifeline.once('close', () => {
  // If there are no process groups, at least this process.
  if (!signalGroup(process.pid, 'SIGKILL')) process.kill(process.pid, 'SIGKILL')
})
lifeline.resume()
