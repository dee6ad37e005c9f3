// A server without Rota: it sends bytes that Rota sent before, and a message to its streams every second. The effect of
// its clients on the scheduler is the effect of any two busy programs on the same machine.
import { createServer } from 'node:http'

process.once('message', (answers) => {
  const bodies = new Map(answers)
  const streams = new Set()
  const server = createServer((request, response) => {
    const body = bodies.get(request.url)
    if (body === undefined) {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('event: hello\n\n')
      streams.add(response)
      response.on('close', () => streams.delete(response))
      return
    }
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
    response.end(body)
  })
  setInterval(() => {
    for (const response of streams) response.write('event: runs\ndata: {}\n\n')
  }, 1000)
  server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))
})
