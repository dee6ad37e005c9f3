import { useEffect, useId, useRef, type ReactNode } from 'react'
import styles from './tabs.module.css'

/** One tab: its name in the address, its title, and its content, which is only made while it is shown. */
export interface Tab {
  readonly key: string
  readonly title: ReactNode
  readonly content: () => ReactNode
}

/** Parts of a page of which one is shown. Arrow keys go from tab to tab. */
export function Tabs({
  label,
  tabs,
  chosen,
  onChoose,
}: {
  label: string
  tabs: readonly Tab[]
  chosen: string
  onChoose: (key: string) => void
}): ReactNode {
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const shown = tabs.find(({ key }) => key === chosen) ?? tabs[0]
  const shownKey = shown?.key
  useEffect(() => {
    // On a narrow screen the row of tabs scrolls: the chosen one is in sight. Only the row moves, never the page.
    const tab = list.current?.querySelector<HTMLElement>('[aria-selected="true"]')
    if (tab == null || list.current === null) return
    const row = list.current.getBoundingClientRect()
    const { left, right } = tab.getBoundingClientRect()
    list.current.scrollLeft += Math.max(0, right - row.right) - Math.max(0, row.left - left)
  }, [shownKey])
  const move = (event: React.KeyboardEvent): void => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (by === undefined) return
    event.preventDefault()
    const at = (tabs.findIndex((tab) => tab === shown) + by + tabs.length) % tabs.length
    onChoose(tabs[at]?.key ?? '')
    list.current?.querySelectorAll('button')[at]?.focus()
  }
  return (
    <section className={styles['tabs']}>
      {/* The tabs themselves take the focus. */}
      {/* oxlint-disable-next-line jsx-a11y/interactive-supports-focus */}
      <div ref={list} role="tablist" aria-label={label} className={styles['list']} onKeyDown={move}>
        {tabs.map((tab) => (
          <button
            key={tab.key}
            type="button"
            role="tab"
            id={`${id}-${tab.key}`}
            className={styles['tab']}
            aria-selected={tab === shown}
            aria-controls={`${id}-panel`}
            tabIndex={tab === shown ? 0 : -1}
            onClick={() => onChoose(tab.key)}
          >
            {tab.title}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${shown?.key ?? ''}`}>
        {shown?.content()}
      </div>
    </section>
  )
}
