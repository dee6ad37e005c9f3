import { useEffect, useMemo, useRef, type ReactNode } from 'react'
import { useColours } from '../../../design/colours.js'
import { paint, type Scene } from '../canvas/paint.js'
import { makeSprites } from '../canvas/sprites.js'
import styles from './chart.module.css'

/** The marks. They are drawn before the browser paints, so that they never lag behind the axis. */
export function LanesCanvas({
  top,
  ...scene
}: Omit<Scene, 'colours' | 'sprites'> & {
  /** The position of the first lane that is drawn. */
  top: number
}): ReactNode {
  const ref = useRef<HTMLCanvasElement>(null)
  const colours = useColours()
  const density = window.devicePixelRatio
  const sprites = useMemo(() => makeSprites(colours, density), [colours, density])
  const { widthPx, rowPx, rows } = scene
  const heightPx = rows.length * rowPx
  useEffect(() => {
    const canvas = ref.current
    const context = canvas?.getContext('2d')
    if (canvas === null || context == null) return
    const [width, height] = [Math.round(widthPx * density), Math.round(heightPx * density)]
    // Setting the size clears the canvas and costs time, even if it is the same.
    if (canvas.width !== width) canvas.width = width
    if (canvas.height !== height) canvas.height = height
    context.setTransform(density, 0, 0, density, 0, 0)
    const began = performance.now()
    paint(context, { ...scene, colours, sprites })
    performance.measure('rota:paint', { start: began })
  })
  return (
    <canvas
      ref={ref}
      className={styles['canvas']}
      aria-hidden="true"
      style={{ insetBlockStart: top, inlineSize: widthPx, blockSize: heightPx }}
    />
  )
}
