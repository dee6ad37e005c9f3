import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { systemClock } from '../time/clock.js'
import { HttpServer } from './listen.js'

it('a body that never ends is answered with 408 and the connection is closed', async () => {
  // The real limit is thirty seconds; the code is the same.
  const server = new HttpServer((request) => void request.resume(), { clock: systemClock, headersMs: 50 })
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 })
  const answer = await new Promise<string>((resolve) => {
    let text = ''
    const socket = connect(port, '127.0.0.1')
    socket.write('POST /api/v1/runs HTTP/1.1\r\nhost: x\r\ncontent-length: 99\r\n\r\n{')
    socket.on('data', (chunk) => (text += chunk.toString('latin1')))
    socket.on('close', () => resolve(text))
  })
  await server.close()
  expect(answer).toContain('HTTP/1.1 408 ')
})
