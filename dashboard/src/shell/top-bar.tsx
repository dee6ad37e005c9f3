import { useEffect, useId, useRef, type ReactNode, type RefObject } from 'react'
import { Link, useLocation } from 'wouter'
import { pages, type Page } from '../pages/index.js'
import { words as common } from '../words/common.js'
import { words } from '../words/shell.js'
import { LiveDot } from './live-dot.js'
import { ThemeSwitch } from './theme-switch.js'
import styles from './top-bar.module.css'
import { ZoneSwitch } from './zone-switch.js'

/** The bar at the top: pages, search, how changes arrive, the zone and the theme. */
export function TopBar({ onSearch, onKeys }: { onSearch: () => void; onKeys: () => void }): ReactNode {
  const more = pages.filter(({ place }) => place === 'more')
  return (
    <header className={styles['bar']}>
      <Link href="/" className={styles['brand']}>
        {common.product}
      </Link>
      <nav className={styles['pages']} aria-label={words.navigation}>
        {pages
          .filter(({ place }) => place === 'bar')
          .map((page) => (
            <PageLink key={page.path} page={page} />
          ))}
        {more.length === 0 ? null : <MoreMenu pages={more} />}
      </nav>
      <div className={styles['tools']}>
        <button type="button" className={styles['search']} onClick={onSearch}>
          <span aria-hidden="true">⌕</span> <span className={styles['word']}>{words.search}</span>{' '}
          <kbd>{modifierName}K</kbd>
        </button>
        <LiveDot />
        <ZoneSwitch />
        <button
          type="button"
          className={styles['tool']}
          aria-label={words.keys.button}
          title={words.keys.button}
          onClick={onKeys}
        >
          ?
        </button>
        <ThemeSwitch />
      </div>
    </header>
  )
}

const modifierName = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl '

function PageLink({ page: { path, title, load }, onClick }: { page: Page; onClick?: () => void }): ReactNode {
  const [current] = useLocation()
  const isHere = path === '/' ? current === '/' : current === path || current.startsWith(`${path}/`)
  const ref = useRef<HTMLAnchorElement>(null)
  useShown(ref, isHere)
  return (
    <Link
      ref={ref}
      href={path}
      className={styles['page']}
      aria-current={isHere ? 'page' : undefined}
      data-title={title}
      // Loads the code of the page before the click; if that fails, the page itself shows the error.
      onPointerEnter={() => void load().catch(() => undefined)}
      onClick={onClick}
    >
      {title}
    </Link>
  )
}

/** The pages that are used less, in a popover: the browser closes it on Escape and on a click outside. */
function MoreMenu({ pages: few }: { pages: readonly Page[] }): ReactNode {
  const id = useId()
  const ref = useRef<HTMLDivElement>(null)
  const [current] = useLocation()
  const isHere = few.some(({ path }) => current.startsWith(path))
  const button = useRef<HTMLButtonElement>(null)
  useShown(button, isHere)
  return (
    <div>
      <button ref={button} type="button" className={styles['page']} popoverTarget={id} data-here={isHere}>
        {words.more} <span aria-hidden="true">▾</span>
      </button>
      <div
        ref={ref}
        id={id}
        popover="auto"
        className={styles['menu']}
        onBeforeToggle={({ currentTarget }) => placeBelow(currentTarget)}
      >
        {few.map((page) => (
          <PageLink key={page.path} page={page} onClick={() => ref.current?.hidePopover()} />
        ))}
      </div>
    </div>
  )
}

/** On a narrow screen the row of pages is scrolled: the current one is in sight. */
function useShown(ref: RefObject<HTMLElement | null>, isHere: boolean): void {
  useEffect(() => {
    if (!isHere || !matchMedia(scrolled).matches) return undefined
    // Once the next page is drawn: before, it would have to be laid out twice.
    const timer = setTimeout(() => ref.current?.scrollIntoView({ block: 'nearest', inline: 'nearest' }), 50)
    return () => clearTimeout(timer)
  }, [ref, isHere])
}

/** Where the row of pages does not fit. */
const scrolled = '(max-width: 1000px)'

/** Places the popover, which is in its own layer, below its button and inside the window. */
function placeBelow(menu: HTMLElement): void {
  const { left, bottom } = menu.parentElement?.getBoundingClientRect() ?? new DOMRect()
  menu.style.insetBlockStart = `${bottom + 4}px`
  menu.style.insetInlineStart = `${Math.max(8, Math.min(left, innerWidth - 220))}px`
}
