// The HTTP API of Rota inside Express, below /ops. Run it with `node examples/serving/express.mjs`.
import express from 'express'
import { app, askAsAnn, authorize } from './shared.mjs'

const api = app.handler({ authorize })

const server = express()
  // A body parser may come first, except for webhooks: their signatures cover the original bytes.
  .use(express.json())
  .use('/ops', (request, response, next) => void api.node(request, response, next))
  .use((_, response) => response.send('the rest of the program'))
  .listen(0, '127.0.0.1', async () => {
    await askAsAnn(`http://127.0.0.1:${server.address().port}/ops`)
    await api.close()
    server.close()
    await app.stop()
  })
