// The heap of a tab of the dashboard: after live messages, and after many pages.
import { createServer, request as httpRequest } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/** The heap of a tab after garbage collection. */
export async function heapOf(page) {
  const session = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  await session.detach()
  return usedSize
}

/** Opens every page repeatedly; returns the heap after the first round and after the last one. */
export async function walk(page, { url, run, trigger, rounds }) {
  const paths = [
    '/',
    '/timeline?range=24h',
    '/triggers',
    `/triggers/${trigger}`,
    '/runs',
    `/runs/${run}`,
    '/ledger',
    '/timeline?range=1y',
    '/assets',
    '/rounds',
    '/sensors',
    '/queues',
    '/settings',
  ]
  await page.goto(url)
  let first = Number.NaN
  for (let round = 0; round < rounds; round += 1) {
    for (const path of paths) {
      await page.evaluate((hash) => (location.hash = hash), `#${path}`)
      await page.locator('#content h1').first().waitFor({ state: 'attached' })
      await sleep(250)
    }
    if (round === 0) first = await heapOf(page)
  }
  return { first, last: await heapOf(page) }
}

/**
 * Many messages in a short time: the timers of the tab run faster, and a separate stream sends all topics four times
 * per second of that time. The page can be used until `close`.
 */
export async function liveFor(page, { url, path, count, faster }) {
  const proxy = await streamProxy(url, { count, everyMs: 250 / faster })
  await page.addInitScript((factor) => {
    for (const name of ['setTimeout', 'setInterval']) {
      const own = globalThis[name]
      globalThis[name] = (act, ms = 0, ...rest) => own(act, ms / factor, ...rest)
    }
  }, faster)
  await page.goto(`${proxy.url}/#${path}`)
  await page.getByRole('application').waitFor()
  const before = await heapOf(page)
  let answers = 0
  page.on('response', () => (answers += 1))
  await proxy.over
  await sleep(2000)
  const after = await heapOf(page)
  return { before, after, answers, close: proxy.close }
}

/** A proxy with its own stream. */
async function streamProxy(target, { count, everyMs }) {
  let done
  const over = new Promise((resolve) => (done = resolve))
  // A tab that loses the stream reconnects for the rest.
  let sent = 0
  const { hostname, port } = new URL(target)
  const server = createServer((incoming, outgoing) => {
    if (incoming.url?.startsWith('/api/v1/stream')) {
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
      outgoing.write('event: hello\ndata: {}\n\n')
      const topics = ['runs', 'ledger', 'triggers', 'holds', 'workers', 'state']
      const timer = setInterval(() => {
        sent += 1
        outgoing.write(`id: ${sent}\nevent: changed\ndata: ${JSON.stringify({ topics })}\n\n`)
        if (sent < count) return
        clearInterval(timer)
        done()
      }, everyMs)
      outgoing.on('close', () => clearInterval(timer))
      return
    }
    const { method, url: path, headers } = incoming
    const onward = httpRequest(
      { hostname, port, method, path, headers: { ...headers, host: `${hostname}:${port}` } },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(outgoing)
      },
    )
    onward.on('error', () => outgoing.destroy())
    incoming.pipe(onward)
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    over,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
