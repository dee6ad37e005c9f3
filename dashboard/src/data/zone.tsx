/** In which zone times are shown: the reader's, each trigger's own, or UTC. The address says so; the choice is kept. */
import { createContext, use, type ReactNode } from 'react'
import { useParams } from './location.js'
import { keepSetting, useSetting } from './settings.js'

/** The choices. */
export type ZoneChoice = 'mine' | 'trigger' | 'utc'

/** The choices, in the order in which the key goes through them. */
export const zoneChoices: readonly ZoneChoice[] = ['mine', 'trigger', 'utc']

/** The zone of the reader's system. */
export const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone

/** The choice and how to change it. */
export function useZoneChoice(): readonly [ZoneChoice, (choice: ZoneChoice) => void] {
  const [params, change] = useParams()
  const [kept] = useSetting('zone')
  const text = params.get('zone') ?? kept
  return [
    zoneChoices.find((choice) => choice === text) ?? 'mine',
    (choice) => {
      keepSetting('zone', choice)
      change({ zone: choice }, { replace: true })
    },
  ]
}

const Choice = createContext<ZoneChoice>('mine')

/** Reads the choice once for all times inside. */
export function ZoneProvider({ children }: { children: ReactNode }): ReactNode {
  const [choice] = useZoneChoice()
  return <Choice value={choice}>{children}</Choice>
}

const TriggerZone = createContext<string | undefined>(undefined)

/** Everything inside belongs to a trigger of this zone. */
export function InZoneOf({ zone, children }: { zone: string | undefined; children: ReactNode }): ReactNode {
  return <TriggerZone value={zone}>{children}</TriggerZone>
}

/** The zone in which to show a time; a time without a trigger is shown in the reader's. */
export function useZone(ofTrigger?: string): string {
  const choice = use(Choice)
  const around = use(TriggerZone)
  if (choice === 'utc') return 'UTC'
  return choice === 'trigger' ? (ofTrigger ?? around ?? ownZone) : ownZone
}
