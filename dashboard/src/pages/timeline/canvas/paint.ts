/** Draws the lanes. It knows nothing about the page: everything it draws is a parameter. */
import type { Colours } from '../../../design/colours.js'
import { families, marks, type Family } from '../../../design/marks.js'
import { formatCount } from '../../../data/format.js'
import type { Tick } from '../axis/ticks.js'
import { lengthOf, type View } from '../axis/view.js'
import type { Band } from '../lane/lane-data.js'
import type { Item } from '../lane/merge.js'
import { spritePx, type Sprites } from './sprites.js'

/** One lane as it is drawn. */
export interface Row {
  readonly items: readonly Item[]
  readonly bands: readonly Band[]
  /** Whether something of it is still to be read. */
  readonly isLoading: boolean
}

/** What is drawn, and how large. */
export interface Scene {
  readonly view: View
  readonly widthPx: number
  readonly rowPx: number
  readonly nowMs: number
  readonly rows: readonly Row[]
  /** What a lane says that has nothing to show. */
  readonly nothing: string
  readonly days: readonly Tick[]
  readonly ticks: readonly Tick[]
  readonly colours: Colours
  readonly sprites: Sprites
}

/** Draws a scene; the context is scaled to pixels of the page. */
export function paint(context: CanvasRenderingContext2D, scene: Scene): void {
  const { widthPx, rowPx, rows, colours } = scene
  const heightPx = rows.length * rowPx
  context.clearRect(0, 0, widthPx, heightPx)
  paintGround(context, scene, heightPx)
  context.font = '600 10px system-ui, sans-serif'
  context.textBaseline = 'middle'
  for (const [index, row] of rows.entries()) {
    const painter = new LanePainter(context, scene, index * rowPx)
    painter.bands(row.bands)
    painter.tails(row.items)
    painter.items(row.items)
    painter.bandLabels(row.bands, row.items)
    if (row.isLoading) {
      if (row.items.length === 0) painter.waiting()
    } else if (row.bands.length === 0 && !painter.isAnySeen(row.items)) painter.nothing()
  }
  const nowPx = xOf(scene, scene.nowMs)
  context.fillStyle = colours.text
  context.fillRect(Math.round(nowPx) - 1, 0, 2, heightPx)
}

/** The future, the lines of the axis, and one below each lane. */
function paintGround(context: CanvasRenderingContext2D, scene: Scene, heightPx: number): void {
  const { widthPx, rowPx, rows, colours, nowMs, ticks, days } = scene
  const nowPx = Math.max(0, xOf(scene, nowMs))
  context.fillStyle = colours.surface
  if (nowPx < widthPx) context.fillRect(nowPx, 0, widthPx - nowPx, heightPx)
  context.fillStyle = colours.line
  context.globalAlpha = 0.55
  for (const { atMs } of ticks) context.fillRect(Math.round(xOf(scene, atMs)), 0, 1, heightPx)
  context.globalAlpha = 1
  for (const { atMs } of days) context.fillRect(Math.round(xOf(scene, atMs)), 0, 1, heightPx)
  for (let index = 1; index <= rows.length; index += 1) context.fillRect(0, index * rowPx - 1, widthPx, 1)
}

/** Where an instant is drawn. */
function xOf({ view, widthPx }: Scene, atMs: number): number {
  return ((atMs - view.fromMs) / lengthOf(view)) * widthPx
}

/** What is wider than this has room for its text. */
const textPadPx = 12
/** As many widths of texts as are remembered. */
const mostWidths = 2000
/** Shapes need this much room; with less they become thin bars. */
const shapeRoomPx = 10

class LanePainter {
  readonly #context: CanvasRenderingContext2D
  readonly #scene: Scene
  readonly #top: number
  readonly #middle: number
  /** The height that marks are drawn for: shapes have a fixed size, and blocks beside them must not be much higher. */
  readonly #markPx: number

  constructor(context: CanvasRenderingContext2D, scene: Scene, top: number) {
    this.#context = context
    this.#scene = scene
    this.#top = top
    this.#middle = top + (scene.rowPx - 1) / 2
    this.#markPx = Math.min(scene.rowPx, 26)
  }

  /** Holds: they lie behind everything. */
  bands(bands: readonly Band[]): void {
    const { colours, sprites, rowPx, widthPx } = this.#scene
    for (const { fromMs, untilMs } of bands) {
      const [left, right] = this.#span(fromMs, untilMs)
      if (right <= 0 || left >= widthPx) continue
      this.#context.fillStyle = sprites.softHatches.chosen
      this.#context.fillRect(left, this.#top, right - left, rowPx - 1)
      this.#context.fillStyle = colours.fill.chosen
      this.#context.fillRect(left, this.#top, 2, rowPx - 1)
    }
  }

  /** Who paused it and why, at the first free place of a band. */
  bandLabels(bands: readonly Band[], items: readonly Item[]): void {
    const { widthPx } = this.#scene
    for (const { fromMs, untilMs, text } of bands) {
      const [left, right] = this.#span(fromMs, untilMs)
      const end = Math.min(widthPx, right)
      const needed = this.#widthOf(text)
      let from = Math.max(4, left + 6)
      for (const item of items) {
        const [start, stop] = this.#span(item.fromMs, item.untilMs)
        if (stop + spritePx < from) continue
        if (start - spritePx / 2 > from + needed) break
        from = stop + spritePx
      }
      if (from + needed < end) this.#text(text, { x: from, width: needed, family: 'chosen' })
    }
  }

  /** How long runs took: a line from their due instant, thick while they ran. */
  tails(items: readonly Item[]): void {
    const { colours, nowMs, widthPx } = this.#scene
    for (const { kind, point, mark, fromMs } of items) {
      if (kind !== 'shape' || point?.run === undefined) continue
      const { startedMs, finishedMs } = point.run
      const endMs = finishedMs ?? (mark === 'running' ? nowMs : startedMs)
      if (endMs === undefined) continue
      const [left, right] = this.#span(fromMs, endMs)
      if (right - left < 8 || right < 0 || left > widthPx) continue
      const ranFrom = startedMs === undefined ? right : this.#span(startedMs, endMs)[0]
      this.#context.fillStyle = colours.fill[marks[mark].family]
      this.#context.fillRect(left, this.#middle - 0.5, right - left, 1)
      this.#context.globalAlpha = 0.6
      this.#context.fillRect(ranFrom, this.#middle - 2, right - ranFrom, 4)
      this.#context.globalAlpha = 1
    }
  }

  /** Marks, blocks and bars. */
  items(items: readonly Item[]): void {
    const { widthPx } = this.#scene
    for (const item of items) {
      const [left, right] = this.#span(item.fromMs, item.untilMs)
      if (right < -spritePx || left > widthPx + spritePx) continue
      if (item.kind === 'bar') this.#bar(item, left, right)
      else if (item.kind === 'block') this.#block(item, left, right)
      else this.#shape(item, left)
    }
  }

  /** A quiet line where marks are still to be read. */
  waiting(): void {
    const { colours, widthPx } = this.#scene
    this.#context.fillStyle = colours.line
    this.#context.fillRect(0, this.#middle - 1, widthPx, 2)
  }

  /** Whether any of the items is within the time that is shown. */
  isAnySeen(items: readonly Item[]): boolean {
    return items.some(({ fromMs, untilMs }) => {
      const [left, right] = this.#span(fromMs, untilMs)
      return right >= 0 && left <= this.#scene.widthPx
    })
  }

  /** A lane is never blank: it says that nothing was due. */
  nothing(): void {
    const { nothing } = this.#scene
    this.#text(nothing, { x: 4, width: this.#widthOf(nothing), family: 'quiet' })
  }

  #span(fromMs: number, untilMs: number): [number, number] {
    // Far outside, positions are cut: a canvas is not exact with huge numbers.
    const { widthPx } = this.#scene
    const cut = (x: number): number => Math.min(widthPx + 2000, Math.max(-2000, x))
    return [cut(xOf(this.#scene, fromMs)), cut(xOf(this.#scene, untilMs))]
  }

  #shape({ mark, roomPx, point }: Item, x: number): void {
    if (roomPx < shapeRoomPx) {
      this.#thin(marks[mark].family, x, roomPx)
      return
    }
    const sprite = this.#scene.sprites.shapes.get(mark)
    const half = spritePx / 2
    if (sprite !== undefined)
      this.#context.drawImage(sprite, x - half, this.#middle - half, spritePx, spritePx)
    if (point?.change !== undefined) this.#clockChange(x)
  }

  /** A mark without room for its shape; what failed is taller, what is to come is shorter. */
  #thin(family: Family, x: number, roomPx: number): void {
    const { colours } = this.#scene
    const height = this.#markPx - { bad: 5, warn: 7, active: 9, chosen: 9, ok: 11, quiet: 17 }[family]
    const width = Math.max(2, Math.min(6, roomPx - 1.5))
    this.#context.fillStyle = colours.fill[family]
    this.#context.fillRect(x - width / 2, this.#middle - height / 2, width, height)
  }

  /** Several instants: the families one above the other, by their share, and how many there are. */
  #block({ tally, count: all, mark, roomPx }: Item, from: number, right: number): void {
    const { colours } = this.#scene
    const leastPx = roomPx < shapeRoomPx ? 3 : shapeRoomPx
    const left = right - from < leastPx && roomPx >= shapeRoomPx ? from - leastPx / 2 : from
    const end = Math.max(right, left + leastPx)
    const height = this.#markPx - 11
    const present = new Map<Family, number>()
    // A check of a round is not shown if there are runs of it.
    const checks = tally.checked ?? 0
    const count = all === checks ? all : all - checks
    for (const [name, instants] of Object.entries(tally)) {
      if (name === 'checked' && count < all) continue
      const { family } = marks[name as keyof typeof marks]
      present.set(family, (present.get(family) ?? 0) + instants)
    }
    let y = this.#middle - height / 2
    const stacked = families.toReversed().filter((family) => present.has(family))
    for (const [index, family] of stacked.entries()) {
      const share = ((present.get(family) ?? 0) / count) * height
      const isLast = index === stacked.length - 1
      const part = isLast ? this.#middle + height / 2 - y : Math.min(height - 3, Math.max(3, share))
      this.#context.fillStyle = family === 'quiet' ? this.#scene.sprites.hatches.quiet : colours.fill[family]
      this.#context.fillRect(left, y, end - left, part)
      y += part
    }
    this.#chip(formatCount(count), { left, right: end, family: marks[mark].family })
  }

  /** A range: hatched, with its shape at its beginning. One that is too short is only its shape. */
  #bar({ mark, bar }: Item, left: number, right: number): void {
    const { sprites, colours } = this.#scene
    const { family } = marks[mark]
    const height = this.#markPx - 11
    if (right - left >= 4) {
      this.#context.fillStyle = sprites.hatches[family]
      this.#context.fillRect(left, this.#middle - height / 2, right - left, height)
      this.#context.strokeStyle = colours.fill[family]
      this.#context.lineWidth = 1
      this.#context.strokeRect(left + 0.5, this.#middle - height / 2 + 0.5, right - left - 1, height - 1)
    }
    if (mark === 'due') {
      this.#chip(bar?.text ?? '', { left, right, family })
      return
    }
    const sprite = sprites.shapes.get(mark)
    const x = right - left >= 24 ? Math.max(left, 0) + 10 : (left + right) / 2
    if (sprite !== undefined && x < right + spritePx)
      this.#context.drawImage(sprite, x - spritePx / 2, this.#middle - spritePx / 2, spritePx, spritePx)
  }

  /** A small corner above an instant that a change of the clocks moved, added or dropped. */
  #clockChange(x: number): void {
    this.#context.fillStyle = this.#scene.colours.ink.warn
    this.#context.beginPath()
    this.#context.moveTo(x + 2, this.#top + 1)
    this.#context.lineTo(x + 9, this.#top + 1)
    this.#context.lineTo(x + 5.5, this.#top + 7)
    this.#context.fill()
  }

  /** A text in the middle of what is seen of a block, on the colour of the page so that it can be read. */
  #chip(text: string, { left, right, family }: { left: number; right: number; family: Family }): void {
    const { widthPx } = this.#scene
    const [from, until] = [Math.max(0, left), Math.min(widthPx, right)]
    const width = this.#widthOf(text)
    if (until - from < width + textPadPx) return
    this.#text(text, { x: (from + until - width) / 2, width, family })
  }

  #widthOf(text: string): number {
    const { widths } = this.#scene.sprites
    const known = widths.get(text) ?? this.#context.measureText(text).width + 8
    if (widths.size > mostWidths) widths.clear()
    widths.set(text, known)
    return known
  }

  #text(text: string, { x, width, family }: { x: number; width: number; family: Family }): void {
    const { colours } = this.#scene
    this.#context.fillStyle = colours.background
    this.#context.fillRect(x, this.#middle - 6, width, 12)
    this.#context.fillStyle = colours.ink[family]
    this.#context.fillText(text, x + 4, this.#middle + 0.5)
  }
}
