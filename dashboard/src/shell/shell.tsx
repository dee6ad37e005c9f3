import { useEffect, useState, type ReactNode } from 'react'
import { useLocation } from 'wouter'
import { useLive } from '../data/live-context.js'
import { useZone, useZoneChoice, zoneChoices } from '../data/zone.js'
import { exactTime } from '../data/format.js'
import { pages } from '../pages/index.js'
import { WhyPanel } from '../parts/why/why-panel.js'
import { words as common } from '../words/common.js'
import { words } from '../words/shell.js'
import { FreezeBanner } from './freeze-banner.js'
import { listenToKeys, useKeys } from './keys.js'
import { KeysSheet } from './keys-sheet.js'
import { Palette } from './palette.js'
import styles from './shell.module.css'
import { TopBar } from './top-bar.js'

/** What surrounds every page: the bar, the banners, the search and the keys. */
export function Shell({ children }: { children: ReactNode }): ReactNode {
  const [opened, setOpened] = useState<'palette' | 'keys'>()
  const [, go] = useLocation()
  const [zone, chooseZone] = useZoneChoice()
  useEffect(listenToKeys, [])
  useKeys([
    { keys: 'mod+k', label: words.keys.palette, act: () => setOpened('palette'), isGlobal: true },
    { keys: '?', label: words.keys.sheet, act: () => setOpened('keys'), isGlobal: true },
    {
      keys: 'z',
      label: words.keys.zone,
      act: () => chooseZone(zoneChoices[(zoneChoices.indexOf(zone) + 1) % zoneChoices.length] ?? 'mine'),
      isGlobal: true,
    },
    ...pages.flatMap(({ key, path, title }) =>
      key === undefined
        ? []
        : [{ keys: `g ${key}`, label: words.keys.goTo(title), act: () => go(path), isGlobal: true }],
    ),
  ])
  const close = (): void => setOpened(undefined)
  return (
    <>
      <a
        className={styles['skip']}
        href="#content"
        onClick={(event) => {
          // The hash is the address of the page: a jump must not change it.
          event.preventDefault()
          document.getElementById('content')?.focus()
        }}
      >
        {common.skip}
      </a>
      <TopBar onSearch={() => setOpened('palette')} onKeys={() => setOpened('keys')} />
      <StaleBanner />
      <FreezeBanner />
      <main id="content" className={styles['content']} tabIndex={-1}>
        {children}
      </main>
      <WhyPanel />
      {opened === 'palette' ? <Palette onClose={close} /> : null}
      {opened === 'keys' ? <KeysSheet onClose={close} /> : null}
    </>
  )
}

/** Says that the stream is lost, and shows the time of the data. */
function StaleBanner(): ReactNode {
  const { state, lostAt } = useLive()
  const zone = useZone()
  if (state !== 'lost' || lostAt === undefined) return null
  const { clock } = exactTime(lostAt, zone, { now: lostAt })
  return (
    <div className={styles['stale']} role="status">
      {words.stale(clock)}
    </div>
  )
}
