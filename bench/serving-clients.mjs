// Asks a served app: a steady number of reads a second over connections that stay open, and streams that are read.
import { Agent, get } from 'node:http'

const { PORT, READS, STREAMS } = process.env
const paths = ['/runs?limit=20', '/triggers?limit=50', '/queues', '/pulse', '/runs?state=failed', '/workers']
const agent = new Agent({ keepAlive: true, maxSockets: 50 })
const everyMs = 10

let timer
let began = 0
let count = { asked: 0, answered: 0, failed: 0, events: 0 }
const open = new Set()

process.on('message', (word) => {
  if (word === 'start') start()
  if (word === 'stop') stop()
  if (word === 'tell') {
    const perSecond = (count.answered * 1000) / (performance.now() - began)
    process.send({ perSecond, failed: count.failed, events: count.events })
  }
})

function start() {
  stop()
  began = performance.now()
  count = { asked: 0, answered: 0, failed: 0, events: 0 }
  for (let i = 0; i < Number(STREAMS); i += 1) listen()
  timer = setInterval(() => {
    const wanted = ((performance.now() - began) * Number(READS)) / 1000
    // A server that is behind is not buried: what it did not answer is not asked for again.
    while (count.asked < wanted && count.asked - count.answered - count.failed < 500) ask()
  }, everyMs)
}

function stop() {
  clearInterval(timer)
  for (const request of open) request.destroy()
  open.clear()
}

function ask() {
  const path = `/api/v1${paths[count.asked % paths.length]}`
  count.asked += 1
  get({ port: PORT, host: '127.0.0.1', path, agent }, (response) => {
    response
      .resume()
      .on('end', () => (response.statusCode === 200 ? (count.answered += 1) : (count.failed += 1)))
  }).on('error', () => (count.failed += 1))
}

function listen() {
  const request = get({ port: PORT, host: '127.0.0.1', path: '/api/v1/stream' }, (response) => {
    response.on('data', () => (count.events += 1)).on('error', () => undefined)
  }).on('error', () => undefined)
  open.add(request)
}
