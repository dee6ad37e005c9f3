/**
 * Watches, from a thread of an isolated handler's process, whether the worker is still there: descriptor 4 closes when
 * it is gone, however it went. Then the process goes too, with all it started: its run is taken over elsewhere.
 */
import { Socket } from 'node:net'
import { signalGroup } from '../../handlers/process-group.js'

const lifeline = new Socket({ fd: 4 })
lifeline.on('error', () => undefined)
lifeline.once('close', () => {
  // Where there are no groups, at least itself.
  if (!signalGroup(process.pid, 'SIGKILL')) process.kill(process.pid, 'SIGKILL')
})
lifeline.resume()
