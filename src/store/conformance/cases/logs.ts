import { expect } from 'vitest'
import { logCutText, maxLogBytes, maxLogLineBytes, maxLogLines } from '../../../kernel/definition/bounds.js'
import type { LogLine } from '../../../kernel/run/run.js'
import { aRun, t0, type Law } from '../stage.js'

/** Logs of runs. */
export function logLaws(law: Law): void {
  law('lines are returned in order with growing numbers, in pages', async (stage) => {
    await stage.enqueue([aRun('r'), aRun('other')])
    await stage.store.log([line('one'), line('elsewhere', 'other'), line('two')])
    await stage.store.log([{ ...line('three'), level: 'error', attempt: 2, at: t0 + 5 }])
    const { id } = aRun('r')
    const all = await stage.store.logs({ run: id, limit: 9 })
    expect(all.map(({ text }) => text)).toEqual(['one', 'two', 'three'])
    expect(all[2]).toMatchObject({ run: id, attempt: 2, at: t0 + 5, level: 'error' })
    const [first, second] = all
    expect(await stage.store.logs({ run: id, after: first?.seq ?? 0, limit: 1 })).toEqual([second])
    const numbers = all.map(({ seq }) => seq)
    expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b))
  })

  law('lines of an unknown run are dropped', async (stage) => {
    await stage.store.log([line('hello', 'absent')])
    expect(await stage.store.logs({ run: aRun('absent').id, limit: 9 })).toEqual([])
  })

  law('after the maximum number of lines one last line says that the output was cut', async (stage) => {
    await stage.enqueue([aRun('r')])
    const lines = Array.from({ length: maxLogLines + 50 }, (_, i) => line(`line ${i}`))
    await stage.store.log(lines.slice(0, maxLogLines - 1))
    await stage.store.log(lines.slice(maxLogLines - 1))
    await stage.store.log(lines.slice(0, 3))
    const kept = await stage.store.logs({ run: aRun('r').id, limit: maxLogLines * 2 })
    expect(kept).toHaveLength(maxLogLines + 1)
    expect(kept.at(-1)?.text).toBe(logCutText)
    expect(kept.at(-2)?.text).toBe(`line ${maxLogLines - 1}`)
  })

  law('a line that is too long is truncated, and too many bytes end the log', async (stage) => {
    await stage.enqueue([aRun('r')])
    await stage.store.log([line('é'.repeat(maxLogLineBytes))])
    const [short] = await stage.store.logs({ run: aRun('r').id, limit: 9 })
    const bytes = Buffer.byteLength(short?.text ?? '')
    expect(bytes).toBeLessThanOrEqual(maxLogLineBytes)
    const fits = Math.floor(maxLogBytes / bytes)
    await stage.store.log(Array.from({ length: fits + 9 }, () => line('é'.repeat(maxLogLineBytes))))
    const kept = await stage.store.logs({ run: aRun('r').id, limit: 9999 })
    expect(kept).toHaveLength(fits + 1)
    expect(kept.at(-1)?.text).toBe(logCutText)
  })

  law('G7: logs and their size limit are the same after reopening', async (stage) => {
    await stage.enqueue([aRun('r')])
    await stage.store.log(Array.from({ length: maxLogLines + 1 }, () => line('x')))
    const before = await stage.store.logs({ run: aRun('r').id, limit: 9999 })
    await stage.reopen()
    await stage.store.log([line('one more')])
    expect(await stage.store.logs({ run: aRun('r').id, limit: 9999 })).toEqual(before)
  })
}

function line(text: string, label = 'r'): LogLine {
  return { run: aRun(label).id, attempt: 1, at: t0, level: 'info', text }
}
