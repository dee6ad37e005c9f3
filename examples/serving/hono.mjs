// The HTTP API of Rota inside Hono, below /ops. Run it with `node examples/serving/hono.mjs`.
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { app, askAsAnn, authorize } from './shared.mjs'

const api = app.handler({ authorize })

const hono = new Hono()
hono.all('/ops/*', (context) => api(context.req.raw))
hono.get('/', (context) => context.text('the rest of the program'))

const server = serve({ fetch: hono.fetch, port: 0, hostname: '127.0.0.1' }, async ({ port }) => {
  await askAsAnn(`http://127.0.0.1:${port}/ops`)
  await api.close()
  server.close()
  await app.stop()
})
