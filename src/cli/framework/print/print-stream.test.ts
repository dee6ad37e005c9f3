import { Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { PrintStream } from './print-stream.js'

/** Standard output on a disk: unlike a plain Writable, it stays usable after an error. */
class Disk {
  error: NodeJS.ErrnoException | undefined
  text = ''
  readonly #listeners: ((error: Error) => void)[] = []
  readonly stream = {
    writableLength: 0,
    on: (_: string, listener: (error: Error) => void) => void this.#listeners.push(listener),
    write: (text: string, done: (error?: Error) => void) => {
      const { error } = this
      if (error === undefined) this.text += text
      queueMicrotask(() => {
        done(error)
        if (error !== undefined) for (const listener of this.#listeners) listener(error)
      })
    },
  } as unknown as NodeJS.WriteStream
}

/** A pipe whose reader reads nothing until the test says so. */
class Pipe {
  text = ''
  #held: (() => void) | undefined
  #isRead = false
  readonly stream = new Writable({
    decodeStrings: false,
    write: (chunk: string, _, done) => {
      const take = (): void => {
        this.text += chunk
        done()
      }
      if (this.#isRead) take()
      else this.#held = take
    },
  }) as unknown as NodeJS.WriteStream

  read(): void {
    this.#isRead = true
    this.#held?.()
  }
}

function failure(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: no way`), { code })
}

describe('a stream that is printed to', () => {
  it('continues when its disk is full, and reports how much is missing once there is room', async () => {
    const disk = new Disk()
    const printed = new PrintStream(disk.stream)
    const told: number[] = []
    printed.onRestored = (lost) => void told.push(lost)
    printed.write('one\n')
    await printed.settled()
    disk.error = failure('ENOSPC')
    printed.write('two\n')
    printed.write('three\n')
    await printed.settled()
    expect({ code: printed.failure?.code, isBroken: printed.broken.aborted, told }).toEqual({
      code: 'ENOSPC',
      isBroken: true,
      told: [],
    })
    disk.error = undefined
    printed.write('four\n')
    await printed.settled()
    expect({ text: disk.text, told }).toEqual({ text: 'one\nfour\n', told: [2] })
  })

  it('does not treat a reader that left as a failure', async () => {
    const disk = new Disk()
    const printed = new PrintStream(disk.stream)
    disk.error = failure('EPIPE')
    printed.write('one\n')
    await printed.settled()
    expect({ failure: printed.failure, isBroken: printed.broken.aborted }).toEqual({
      failure: undefined,
      isBroken: true,
    })
  })

  it('buffers a limited amount for a reader that reads nothing, and does not wait for it forever', async () => {
    const pipe = new Pipe()
    const printed = new PrintStream(pipe.stream)
    const told: number[] = []
    printed.onRestored = (lost) => void told.push(lost)
    const line = `${'x'.repeat(1024 * 1024 - 1)}\n`
    for (let count = 0; count < 20; count++) printed.write(line)
    expect(pipe.stream.writableLength).toBeLessThan(10 * 1024 * 1024)
    const late = new AbortController()
    const waiting = printed.settled(late.signal)
    late.abort()
    await waiting
    pipe.read()
    await printed.settled()
    expect(told).toEqual([11])
    expect(pipe.text).toBe(line.repeat(9))
  })
})
