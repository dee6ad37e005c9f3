/** Shapes and patterns as small pictures: drawing a picture is many times faster than drawing a path. */
import type { Colours } from '../../../design/colours.js'
import { families, marks, type Family, type Mark } from '../../../design/marks.js'

/** The pictures of one theme at one density of pixels. */
export interface Sprites {
  readonly shapes: ReadonlyMap<Mark, HTMLCanvasElement>
  /** Hatched, for bars and bands. */
  readonly hatches: Readonly<Record<Family, CanvasPattern | string>>
  /** The same, and weaker. */
  readonly softHatches: Readonly<Record<Family, CanvasPattern | string>>
  /** The widths of texts: measuring them again costs more than drawing them. */
  readonly widths: Map<string, number>
}

/** The side of the picture of a shape: the shape and a halo that lifts it off what lies below. */
export const spritePx = 16
const shapePx = 12
const hatchPx = 6

/** Draws all pictures. */
export function makeSprites(colours: Colours, density: number): Sprites {
  const shapes = new Map<Mark, HTMLCanvasElement>()
  for (const mark of Object.keys(marks) as Mark[]) shapes.set(mark, shapePicture(mark, colours, density))
  const hatches = (alpha: number): Record<Family, CanvasPattern | string> =>
    Object.fromEntries(
      families.map((family) => [family, hatch(colours.fill[family], density, alpha)]),
    ) as Record<Family, CanvasPattern | string>
  return { shapes, hatches: hatches(1), softHatches: hatches(0.35), widths: new Map() }
}

function picture(sidePx: number, density: number): [HTMLCanvasElement, CanvasRenderingContext2D | null] {
  const canvas = document.createElement('canvas')
  canvas.width = Math.round(sidePx * density)
  canvas.height = canvas.width
  const context = canvas.getContext('2d')
  context?.scale(canvas.width / sidePx, canvas.width / sidePx)
  return [canvas, context]
}

function shapePicture(mark: Mark, { background, fill }: Colours, density: number): HTMLCanvasElement {
  const [canvas, context] = picture(spritePx, density)
  if (context === null) return canvas
  const look = marks[mark]
  const path = new Path2D(look.path)
  context.translate((spritePx - shapePx) / 2, (spritePx - shapePx) / 2)
  context.lineCap = 'round'
  context.lineJoin = 'round'
  context.lineWidth = 4.5
  context.strokeStyle = background
  context.stroke(path)
  context.lineWidth = 1.75
  context.fillStyle = look.fill === 'full' || look.fill === 'striped' ? fill[look.family] : background
  // Not an array: the rule only reads the name.
  // oxlint-disable-next-line unicorn/no-array-fill-with-reference-type
  if (look.fill !== 'line') context.fill(path)
  context.strokeStyle = fill[look.family]
  context.stroke(path)
  return canvas
}

function hatch(colour: string, density: number, alpha: number): CanvasPattern | string {
  const [canvas, context] = picture(hatchPx, density)
  if (context === null) return colour
  context.globalAlpha = alpha
  context.strokeStyle = colour
  context.lineWidth = 1.4
  context.lineCap = 'square'
  context.beginPath()
  for (const shift of [-hatchPx, 0, hatchPx]) {
    context.moveTo(shift, hatchPx)
    context.lineTo(shift + hatchPx, 0)
  }
  context.stroke()
  const pattern = context.createPattern(canvas, 'repeat')
  // The picture has the density of the screen; the pattern is drawn in pixels of the page.
  pattern?.setTransform(new DOMMatrix().scale(hatchPx / canvas.width))
  return pattern ?? colour
}
