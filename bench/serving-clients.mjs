// The clients of a served app: a steady number of reads per second over open connections, and streams that are read.
// Bytes are written and read without an HTTP client, which would cost more than the server.
import { connect } from 'node:net'

const { PORT, PATHS, READS, STREAMS } = process.env
const requests = PATHS.split(' ').map((path) => requestOf(path))
const connections = 50
const everyMs = 10

let timer
let began = 0
let cpu = process.cpuUsage()
let count = { asked: 0, answered: 0, failed: 0, events: 0, took: [] }
const free = []
const open = new Set()

process.on('message', (word) => {
  if (word === 'start') start()
  if (word === 'stop') stop()
  if (word === 'tell') {
    const ms = performance.now() - began
    const { user, system } = process.cpuUsage(cpu)
    const sorted = count.took.toSorted((one, other) => one - other)
    process.send({
      perSecond: (count.answered * 1000) / ms,
      p99: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
      failed: count.failed,
      events: count.events,
      cpu: Math.round((user + system) / 10 / ms),
    })
  }
})

function start() {
  stop()
  began = performance.now()
  cpu = process.cpuUsage()
  count = { asked: 0, answered: 0, failed: 0, events: 0, took: [] }
  for (let i = 0; i < Number(STREAMS); i += 1) listen()
  for (let i = 0; i < connections; i += 1) free.push(connection())
  timer = setInterval(() => {
    const wanted = ((performance.now() - began) * Number(READS)) / 1000
    // A server that is behind is not overloaded further: unanswered requests are not repeated.
    while (count.asked < wanted && free.length > 0) free.pop().ask()
  }, everyMs)
}

function stop() {
  clearInterval(timer)
  free.length = 0
  for (const socket of open) socket.destroy()
  open.clear()
}

/** A connection with one request at a time. */
function connection() {
  const socket = opened()
  let atMs = 0
  let left = 0
  const self = {
    ask() {
      atMs = performance.now()
      socket.write(requests[count.asked % requests.length])
      count.asked += 1
    },
  }
  socket.on('data', (bytes) => {
    if (left === 0) {
      const text = bytes.toString('latin1', 0, 1024)
      const end = text.indexOf('\r\n\r\n')
      const [, length] = /\r\ncontent-length: (\d+)/i.exec(text) ?? []
      if (!text.startsWith('HTTP/1.1 200') || length === undefined || end === -1) {
        count.failed += 1
        return socket.destroy()
      }
      left = end + 4 + Number(length)
    }
    left -= bytes.length
    if (left > 0) return
    left = 0
    count.answered += 1
    count.took.push(performance.now() - atMs)
    free.push(self)
  })
  return self
}

function listen() {
  const socket = opened()
  socket.write(requestOf('/stream'))
  socket.on('data', () => (count.events += 1))
}

function opened() {
  const socket = connect(Number(PORT), '127.0.0.1')
  socket.on('error', () => (count.failed += 1))
  open.add(socket)
  return socket
}

function requestOf(path) {
  return `GET /api/v1${path} HTTP/1.1\r\nhost: 127.0.0.1:${PORT}\r\n\r\n`
}
