// The HTTP API of Rota inside Fastify, below /ops. Run it with `node examples/serving/fastify.mjs`.
import Fastify from 'fastify'
import { app, askAsAnn, authorize } from './shared.mjs'

const api = app.handler({ authorize })

const server = Fastify()
server.register(async (scope) => {
  // In this scope Rota reads the bodies.
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', (_, payload, done) => done(null, payload))
  scope.all('/ops/*', (request, reply) => {
    reply.hijack()
    void api.node(request.raw, reply.raw)
  })
})
server.get('/', async () => 'the rest of the program')

await askAsAnn(`${await server.listen({ port: 0, host: '127.0.0.1' })}/ops`)
await api.close()
await server.close()
await app.stop()
