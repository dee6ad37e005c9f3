import { useEffect, useRef, type ReactNode } from 'react'
import type { Asset } from '../../../../src/client/operations.js'
import { LongName } from '../../parts/text/long-name.js'
import { words } from '../../words/assets.js'
import styles from './graph.module.css'
import { placesOf } from './layers.js'

const width = 200
const tall = 32
const stepX = 264
const stepY = 44

/** The assets and their dependencies, from left to right. */
export function Graph({
  assets,
  chosen,
  onChoose,
}: {
  assets: readonly Asset[]
  chosen: string | undefined
  onChoose: (name: string) => void
}): ReactNode {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // A large graph scrolls: the chosen asset is in sight. Only the graph moves, never the page.
    const [outer, node] = [box.current, box.current?.querySelector<HTMLElement>('[aria-pressed="true"]')]
    if (outer === null || node == null) return
    const [seen, { left, right, top, bottom }] = [outer.getBoundingClientRect(), node.getBoundingClientRect()]
    outer.scrollLeft += Math.max(0, right - seen.right) - Math.max(0, seen.left - left)
    outer.scrollTop += Math.max(0, bottom - seen.bottom) - Math.max(0, seen.top - top)
  }, [chosen])
  const places = placesOf(assets)
  const layers = Math.max(0, ...[...places.values()].map(({ layer }) => layer))
  const rows = Math.max(0, ...[...places.values()].map(({ row }) => row))
  const size = { width: layers * stepX + width, height: rows * stepY + tall }
  const edges = assets.flatMap(({ name, deps }) =>
    deps.flatMap(({ asset }) => {
      const [from, to] = [places.get(asset), places.get(name)]
      return from === undefined || to === undefined
        ? []
        : [{ key: `${asset} ${name}`, from, to, asset, name }]
    }),
  )
  return (
    <div ref={box} className={styles['scroll']}>
      <div className={styles['graph']} style={{ inlineSize: size.width, blockSize: size.height }}>
        <svg className={styles['edges']} width={size.width} height={size.height} aria-hidden="true">
          {edges.map(({ key, from, to, asset, name }) => {
            const [x1, y1] = [from.layer * stepX + width, from.row * stepY + tall / 2]
            const [x2, y2] = [to.layer * stepX, to.row * stepY + tall / 2]
            const middle = (x1 + x2) / 2
            return (
              <path
                key={key}
                data-near={asset === chosen || name === chosen}
                d={`M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2 - 5} ${y2}m-4 -4l4 4l-4 4`}
              />
            )
          })}
        </svg>
        {assets.map(({ name, deps }) => {
          const { layer, row } = places.get(name) ?? { layer: 0, row: 0 }
          return (
            <button
              key={name}
              type="button"
              className={styles['node']}
              style={{
                insetInlineStart: layer * stepX,
                insetBlockStart: row * stepY,
                inlineSize: width,
                blockSize: tall,
              }}
              aria-pressed={name === chosen}
              title={words.node(
                name,
                deps.map(({ asset }) => asset),
              )}
              onClick={() => onChoose(name)}
            >
              <span className="cut">
                <LongName>{name}</LongName>
              </span>
            </button>
          )
        })}
      </div>
    </div>
  )
}
