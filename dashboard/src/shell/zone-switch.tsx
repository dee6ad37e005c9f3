import type { ReactNode } from 'react'
import { ownZone, useZoneChoice, zoneChoices, type ZoneChoice } from '../data/zone.js'
import { words } from '../words/shell.js'
import styles from './zone-switch.module.css'

const narrow = matchMedia('(max-width: 640px)')

/** Chooses the zone of all times; its name is always on the screen. */
export function ZoneSwitch(): ReactNode {
  const [chosen, choose] = useZoneChoice()
  const names: Readonly<Record<ZoneChoice, string>> = {
    mine: words.zone.mine(narrow.matches ? cityOf(ownZone) : ownZone),
    trigger: words.zone.trigger,
    utc: words.zone.utc,
  }
  return (
    <select
      className={styles['select']}
      aria-label={words.zone.label}
      title={words.zone.label}
      value={chosen}
      onChange={({ target }) => choose(zoneChoices.find((choice) => choice === target.value) ?? 'mine')}
    >
      {zoneChoices.map((choice) => (
        <option key={choice} value={choice}>
          {names[choice]}
        </option>
      ))}
    </select>
  )
}

/** The last part of the name of a zone, which is short enough for a narrow screen. */
function cityOf(zone: string): string {
  return (zone.split('/').at(-1) ?? zone).replaceAll('_', ' ')
}
