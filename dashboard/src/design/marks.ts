/**
 * The one place that says how a state looks. Colour says one of six things; the shape says which one. A new state gets
 * its line in `marks` and, where no shape fits, a path in `shapes`.
 */

/** The families of states; each has a fill, an ink and a wash in `tokens.css`. */
export type Family = 'ok' | 'active' | 'bad' | 'warn' | 'chosen' | 'quiet'

/** How the inside of a shape is drawn. */
export type Fill = 'full' | 'striped' | 'hollow' | 'hatched' | 'line'

/** How one state looks. The path is drawn in a square of 12 by 12. */
export interface MarkLook {
  readonly family: Family
  readonly fill: Fill
  readonly path: string
}

/** Shapes in a square of 12 by 12, which can be distinguished without colour and at eight pixels. */
const shapes = {
  square: 'M2 2h8v8h-8z',
  play: 'M3 1.5L10.5 6L3 10.5z',
  cross: 'M2.5 2.5L9.5 9.5M9.5 2.5L2.5 9.5',
  question: 'M3.6 4.2a2.4 2.4 0 1 1 3.6 2.1Q6 6.9 6 8M6 10.2v.4',
  down: 'M1.5 2.5h9L6 10z',
  clock: 'M6 1.5a4.5 4.5 0 1 0 .01 0zM6 3.4V6l2 1.2',
  window: 'M2 2h8v8h-8zM6 2v8',
  forward: 'M2 2.5L5.5 6L2 9.5M6.5 2.5L10 6L6.5 9.5',
  bars: 'M4 2v8M8 2v8',
  flake: 'M6 1.5v9M2.1 3.75l7.8 4.5M9.9 3.75l-7.8 4.5',
  off: 'M4 2.6a4.2 4.2 0 1 0 4 0M6 1.2v4',
  barred: 'M6 1.5a4.5 4.5 0 1 0 .01 0zM2.9 9.1l6.2-6.2',
  ring: 'M6 2.2a3.8 3.8 0 1 0 .01 0z',
  disc: 'M6 2.6a3.4 3.4 0 1 0 .01 0z',
  dot: 'M6 4.6a1.4 1.4 0 1 0 .01 0z',
} as const

/** How every state looks, by its name. */
export const marks = {
  done: { family: 'ok', fill: 'full', path: shapes.square },
  on: { family: 'ok', fill: 'full', path: shapes.disc },
  running: { family: 'active', fill: 'striped', path: shapes.play },
  failed: { family: 'bad', fill: 'line', path: shapes.cross },
  unexplained: { family: 'bad', fill: 'line', path: shapes.question },
  missed: { family: 'warn', fill: 'hollow', path: shapes.down },
  late: { family: 'warn', fill: 'line', path: shapes.clock },
  retrying: { family: 'warn', fill: 'hollow', path: shapes.square },
  overlap: { family: 'chosen', fill: 'hatched', path: shapes.window },
  collapsed: { family: 'chosen', fill: 'line', path: shapes.forward },
  paused: { family: 'chosen', fill: 'line', path: shapes.bars },
  frozen: { family: 'chosen', fill: 'line', path: shapes.flake },
  switch: { family: 'chosen', fill: 'line', path: shapes.off },
  blackout: { family: 'chosen', fill: 'full', path: shapes.bars },
  calendar: { family: 'chosen', fill: 'hollow', path: shapes.window },
  cancelled: { family: 'chosen', fill: 'line', path: shapes.barred },
  due: { family: 'quiet', fill: 'hollow', path: shapes.ring },
  pending: { family: 'quiet', fill: 'hollow', path: shapes.square },
  missing: { family: 'quiet', fill: 'hollow', path: shapes.square },
  stale: { family: 'warn', fill: 'hatched', path: shapes.square },
  pruned: { family: 'quiet', fill: 'full', path: shapes.dot },
  checked: { family: 'quiet', fill: 'full', path: shapes.dot },
  'not-due': { family: 'quiet', fill: 'full', path: shapes.dot },
} as const satisfies Readonly<Record<string, MarkLook>>

/** A state that has a look. */
export type Mark = keyof typeof marks

/** The families, in the order in which legends and stacked bars show them. */
export const families: readonly Family[] = ['ok', 'active', 'bad', 'warn', 'chosen', 'quiet']
