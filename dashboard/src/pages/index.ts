/** All pages. A page is a folder next to this file whose `page.tsx` has its component as default export; it is listed here. */
import type { ComponentType } from 'react'
import { words } from '../words/shell.js'

/** A page and where it is. */
export interface Page {
  /** Its path in the hash; parts begin with a colon. */
  readonly path: string
  readonly title: string
  /** Its place in the bar at the top: in the row, below "More", or nowhere. */
  readonly place: 'bar' | 'more' | 'none'
  /** The second key after `g`. */
  readonly key?: string
  readonly load: () => Promise<{ default: ComponentType }>
}

const { pages: titles } = words

/** The pages, in the order of the bar. Each is loaded when it is first opened. */
export const pages: readonly Page[] = [
  { path: '/', title: titles.now, place: 'bar', key: 'n', load: () => import('./now/page.js') },
  {
    path: '/timeline',
    title: titles.timeline,
    place: 'bar',
    key: 't',
    load: () => import('./timeline/page.js'),
  },
  {
    path: '/triggers',
    title: titles.triggers,
    place: 'bar',
    key: 'g',
    load: () => import('./triggers/page.js'),
  },
  { path: '/triggers/:name', title: titles.trigger, place: 'none', load: () => import('./trigger/page.js') },
  { path: '/runs', title: titles.runs, place: 'bar', key: 'r', load: () => import('./runs/page.js') },
  { path: '/runs/:id', title: titles.run, place: 'none', load: () => import('./run/page.js') },
  {
    path: '/ledger',
    title: titles.ledger,
    place: 'bar',
    key: 'l',
    load: () => import('./ledger/page.js'),
  },
  {
    path: '/assets',
    title: titles.assets,
    place: 'bar',
    key: 'a',
    load: () => import('./assets/page.js'),
  },
  {
    path: '/rounds',
    title: titles.rounds,
    place: 'more',
    key: 'o',
    load: () => import('./rounds/page.js'),
  },
  {
    path: '/sensors',
    title: titles.sensors,
    place: 'more',
    key: 'i',
    load: () => import('./sensors/page.js'),
  },
  { path: '/sensors/:name', title: titles.sensor, place: 'none', load: () => import('./sensor/page.js') },
  {
    path: '/queues',
    title: titles.queues,
    place: 'more',
    key: 'q',
    load: () => import('./queues/page.js'),
  },
  {
    path: '/simulate',
    title: titles.simulate,
    place: 'more',
    key: 'm',
    load: () => import('./simulate/page.js'),
  },
  {
    path: '/settings',
    title: titles.settings,
    place: 'more',
    key: 's',
    load: () => import('./settings/page.js'),
  },
]
